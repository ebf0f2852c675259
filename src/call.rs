//! The waist of the server: what can be asked, and what can come of it.
//!
//! Eras translate requests into a [`Call`] and dress an [`Outcome`] or [`Failure`] for the wire; features turn the one
//! into the other. Nothing here knows a revision, a JSON-RPC code or an id, so that a feature is written once for
//! all of them.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cancel::Cancelled;
use crate::features::resources::Fingerprint;
use crate::features::watch::{Followed, ListWatched};
use crate::root::RelPath;
use crate::text::Text;

/// What a client can ask of the features. The handshake and `ping` are answered by the eras themselves.
#[derive(Debug)]
pub enum Call {
    /// `tools/list`: always one page.
    ListTools,
    /// `tools/call`.
    CallTool {
        /// The tool.
        name: String,
        /// Its arguments, a JSON object; checked by the tool.
        arguments: Option<Box<RawValue>>,
    },
    /// `resources/list`.
    ListResources {
        /// Where to go on, from an earlier page.
        cursor: Option<String>,
    },
    /// `resources/read`.
    ReadResource {
        /// As the client wrote it.
        uri: String,
    },
    /// `resources/templates/list`: always one page.
    ListResourceTemplates,
    /// `completion/complete`, for a variable of a resource template.
    Complete {
        /// The template, or a URI, as the client wrote it.
        template: String,
        /// The variable.
        argument: String,
        /// As much of it as is typed.
        value: String,
    },
    /// `resources/subscribe`.
    Subscribe {
        /// As the client wrote it.
        uri: String,
    },
    /// `resources/unsubscribe`.
    Unsubscribe {
        /// As the client wrote it.
        uri: String,
    },
    /// `subscriptions/listen`.
    Listen(Interests),
}

/// What the client of one stream wants to hear of. The server has no other news.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// That the list of resources has changed.
    pub list: bool,
    /// That one of these resources has changed; as the client wrote them.
    pub uris: Vec<String>,
}

/// What came of a call that could be served.
#[derive(Debug)]
pub enum Outcome {
    /// Every tool, in a fixed order.
    Tools(Vec<ToolDefinition>),
    /// What a tool gave, be it an error.
    Tool(ToolResult),
    /// A page of resources.
    Resources(ResourcePage),
    /// One resource's contents.
    Contents(Contents),
    /// The templates.
    ResourceTemplates(Vec<ResourceTemplate>),
    /// What a variable can be.
    Completion(Completion),
    /// From now on the client hears of a resource.
    Subscribed(Subscription),
    /// From now on it does not.
    Unsubscribed {
        /// As the client wrote it.
        uri: String,
        /// The same as a path.
        path: RelPath,
    },
    /// A stream of news begins.
    Listening(Listening),
}

/// Somebody hears of a resource, as long as this lives.
#[derive(Debug)]
pub struct Subscription {
    /// What the news is about: the URI as it was asked for, absolute.
    pub uri: String,
    /// The path that it stands for.
    pub followed: Followed,
}

/// What of its [`Interests`] a stream hears of, as long as this lives.
#[derive(Debug)]
pub struct Listening {
    /// The list of resources.
    pub list: Option<ListWatched>,
    /// Single resources.
    pub subscriptions: Vec<Subscription>,
}

/// Why a call could not be served. A tool that ran and failed is an [`Outcome`] instead: the model should see it.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// No tool has this name.
    UnknownTool(String),
    /// A parameter is wrong; the text says which, and what to send instead.
    InvalidParams(String),
    /// A URI that is malformed or leads outside the served directory. The text is the same whether or not anything
    /// is there.
    BadUri {
        /// As the client wrote it.
        uri: String,
        /// What is wrong with it.
        message: String,
    },
    /// Inside the directory, but not there.
    ResourceNotFound {
        /// As the client wrote it.
        uri: String,
    },
    /// It is there and cannot be given: unreadable, denied, too big, no regular file.
    Unreadable {
        /// As the client wrote it.
        uri: String,
        /// Why, and what to do next.
        message: String,
    },
    /// A method that this server has, and that was switched off.
    SwitchedOff {
        /// Its name.
        method: &'static str,
        /// The option that did it.
        option: &'static str,
    },
    /// The server failed.
    Internal(String),
    /// The client does not want the answer any more.
    Cancelled,
    /// It would block, and [`Context::may_block`](crate::context::Context::may_block) is false: run it again where it may.
    WouldBlock,
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// A tool as `tools/list` shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// What `tools/call` names.
    pub name: &'static str,
    /// For people; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    /// For the model.
    pub description: String,
    /// A flat JSON Schema.
    pub input_schema: Value,
    /// Hints for the client's permission prompts; since 2025-03-26.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// What some client knows besides; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// What a tool does to the world. All four are always said: clients assume the worst of what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these four")]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It can destroy something.
    pub destructive_hint: bool,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent_hint: bool,
    /// It reaches beyond the served directory; never.
    pub open_world_hint: bool,
}

/// A tool's answer.
#[derive(Debug, Default)]
pub struct ToolResult {
    /// Shown to the model, in this order.
    pub content: Vec<Block>,
    /// The tool ran and failed; `content` says why.
    pub is_error: bool,
}

/// A piece of a tool's answer.
#[derive(Debug)]
pub enum Block {
    /// Plain text.
    Text(Text),
    /// A picture.
    Image {
        /// Such as `image/png`.
        mime_type: String,
        /// The file's bytes.
        data: Vec<u8>,
    },
    /// A sound; since 2025-03-26.
    Audio {
        /// Where it is, for revisions that can only embed it.
        uri: String,
        /// Such as `audio/wav`.
        mime_type: String,
        /// The file's bytes.
        data: Vec<u8>,
    },
    /// Anything else.
    Resource(Contents),
}

/// What a resource holds.
#[derive(Debug)]
pub struct Contents {
    /// As it was asked for.
    pub uri: String,
    /// The media type.
    pub mime_type: String,
    /// The bytes.
    pub data: Data,
    /// Set when `data` is only a part.
    pub continues: Option<Continuation>,
}

/// Text or not.
#[derive(Debug)]
pub enum Data {
    /// Valid UTF-8 without NUL.
    Text(Text),
    /// Anything else; sent as base64.
    Blob(Vec<u8>),
}

impl Data {
    /// Text where `is_text` says so and the bytes are UTF-8.
    pub fn from_bytes(bytes: Vec<u8>, is_text: bool) -> Self {
        if !is_text {
            return Self::Blob(bytes);
        }
        Text::from_bytes(bytes).map_or_else(Self::Blob, Self::Text)
    }
}

/// Which part of a resource this is, and where the next one is.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Continuation {
    /// The first byte of the file that is in this part.
    pub from: u64,
    /// The first byte that is not.
    pub to: u64,
    /// The file's size in bytes.
    pub total: u64,
    /// The URI that goes on at `to`.
    pub next: String,
}

/// A page of `resources/list`.
#[derive(Debug)]
pub struct ResourcePage {
    /// In order: shallow first.
    pub resources: Vec<Resource>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// Set when the list was cut: how many entries it was cut to.
    pub truncated: Option<usize>,
    /// On the first page: which list this is, so that it can be told from a later one.
    pub fingerprint: Option<Fingerprint>,
}

/// A resource as `resources/list` shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// An absolute `file://` URI.
    pub uri: String,
    /// The path relative to the served directory.
    pub name: String,
    /// Guessed from the name; absent where that says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<&'static str>,
    /// In bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// Facts about a resource.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// ISO 8601, UTC.
    pub last_modified: String,
}

/// A template as `resources/templates/list` shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: &'static str,
    /// For people; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    /// For people and models.
    pub description: &'static str,
}

/// What can become of a variable that is being typed.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// Whole values, the best first; at most 100.
    pub values: Vec<String>,
    /// How many there are.
    pub total: usize,
    /// There are more than `values` holds.
    pub has_more: bool,
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
    /// There are other resources than before.
    ListChanged,
}
