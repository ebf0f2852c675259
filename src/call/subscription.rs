//! Subscriptions and notifications, as plain data.

use serde_json::value::RawValue;

use crate::root::{RelPath, WatchPath};

/// What the client of one stream wants to hear about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// Changes of the list of resources.
    pub list: bool,
    /// Changes of these resources; URIs as the client wrote them.
    pub uris: Vec<String>,
}

/// A subscription to a resource.
#[derive(Debug)]
pub struct Subscription {
    /// The resource.
    pub subject: Subject,
    /// Where its path leads now.
    pub path: WatchPath,
}

/// A resource as a client names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The URI as the client asked for it, absolute.
    pub uri: String,
    /// The path that the URI means. Several URIs may mean the same path.
    pub path: RelPath,
    /// The part of the URI after the path, which selects lines.
    pub range: String,
}

impl Subject {
    /// Whether two URIs mean the same resource.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.path == other.path && self.range == other.range
    }
}

/// The part of its [`Interests`] that a stream will hear about.
#[derive(Debug)]
pub struct Listening {
    /// The list of resources.
    pub list: bool,
    /// Single resources.
    pub subscriptions: Vec<Subscription>,
}

/// What the server sends on its own initiative.
#[derive(Clone, Debug)]
pub enum Outbound {
    /// `notifications/progress`, for a request with a progress token.
    Progress {
        /// As the client wrote it.
        token: Box<RawValue>,
        /// Strictly increasing.
        progress: u64,
        /// What is being done.
        message: String,
    },
    /// A resource has changed.
    Updated {
        /// As the client subscribed to it.
        uri: String,
    },
    /// The list of resources has changed.
    ListChanged,
}
