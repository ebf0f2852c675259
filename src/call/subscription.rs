//! Subscriptions and notifications, as plain data.

use serde_json::value::RawValue;

use crate::root::{RelPath, WatchPath};

/// A list that a client can be told about when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListKind {
    /// `resources/list`.
    Resources,
    /// `prompts/list`.
    Prompts,
}

/// What the client of one stream wants to be notified of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// That one of these lists has changed.
    pub lists: Vec<ListKind>,
    /// That one of these resources has changed; as the client wrote them.
    pub uris: Vec<String>,
}

/// A resource to be followed.
#[derive(Debug)]
pub struct Subscription {
    /// What it is about.
    pub subject: Subject,
    /// Where that leads now.
    pub path: WatchPath,
}

/// A resource as a client names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The URI as it was asked for, absolute.
    pub uri: String,
    /// The path that this means; several URIs mean the same.
    pub path: RelPath,
    /// What the URI has after that: which lines.
    pub range: String,
}

impl Subject {
    /// Whether two URIs mean the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.path == other.path && self.range == other.range
    }
}

/// What of its [`Interests`] a stream can hear of.
#[derive(Debug)]
pub struct Listening {
    /// Lists.
    pub lists: Vec<ListKind>,
    /// Single resources.
    pub subscriptions: Vec<Subscription>,
}

/// What the server says on its own.
#[derive(Clone, Debug)]
pub enum Outbound {
    /// `notifications/progress`, for a request that gave a token.
    Progress {
        /// As the client wrote it.
        token: Box<RawValue>,
        /// Grows strictly.
        progress: u64,
        /// What is being done.
        message: String,
    },
    /// A resource has changed.
    Updated {
        /// As the client subscribed to it.
        uri: String,
    },
    /// A list is not what it was before.
    ListChanged(ListKind),
}
