//! Subscriptions and notifications, as plain data.

use serde_json::value::RawValue;

use crate::root::{RelPath, WatchPath};

/// A list whose changes a client can be told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListKind {
    /// `resources/list`.
    Resources,
    /// `prompts/list`.
    Prompts,
}

/// What the client of one stream wants to hear about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// Changes of these lists.
    pub lists: Vec<ListKind>,
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
    /// Lists.
    pub lists: Vec<ListKind>,
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
    /// A list has changed.
    ListChanged(ListKind),
}
