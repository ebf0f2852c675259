//! The waist of the server: what can be asked, and what can come of it.
//!
//! The protocol layer translates requests into a [`Call`] and encodes an [`Outcome`] or [`Failure`] for the wire;
//! features turn one into the other. Nothing here knows a revision, a JSON-RPC code or an id, so a feature is written
//! once for all revisions.
//!
//! | module | holds |
//! | --- | --- |
//! | `tool`, `resource`, `prompt` | what is said about tools, resources and prompts |
//! | `subscription` | subscriptions and notifications |

mod prompt;
mod resource;
mod subscription;
mod tool;

use serde_json::value::RawValue;

pub use self::prompt::{Prompt, PromptArgument, PromptMessages, PromptPage};
pub use self::resource::{
    Annotations, Completion, Contents, Continuation, Data, Fingerprint, Resource, ResourcePage, ResourceTemplate,
};
pub use self::subscription::{Interests, ListKind, Listening, Outbound, Subject, Subscription};
pub use self::tool::{Block, ToolAnnotations, ToolDefinition, ToolResult};
use crate::runtime::cancel::Cancelled;

/// What a client can ask of the features. The protocol layer itself answers the handshake and `ping`.
#[derive(Debug)]
pub enum Call {
    /// `tools/list`: always a single page.
    ListTools,
    /// `tools/call`.
    CallTool {
        /// The name of the tool.
        name: String,
        /// Its arguments, a JSON object. The tool checks them.
        arguments: Option<Box<RawValue>>,
    },
    /// `resources/list`.
    ListResources {
        /// Where to continue, from the previous page.
        cursor: Option<String>,
    },
    /// `resources/read`.
    ReadResource {
        /// As the client wrote it.
        uri: String,
    },
    /// `resources/templates/list`: always a single page.
    ListResourceTemplates,
    /// `prompts/list`.
    ListPrompts {
        /// Where to go on, from an earlier page.
        cursor: Option<String>,
    },
    /// `prompts/get`.
    GetPrompt {
        /// The prompt.
        name: String,
        /// Names and values; the last one of a name counts.
        arguments: Vec<(String, String)>,
    },
    /// `completion/complete`, for an argument of a prompt.
    CompletePrompt {
        /// The prompt.
        prompt: String,
        /// The argument.
        argument: String,
        /// As much of it as is typed.
        value: String,
    },
    /// `completion/complete`, for a variable of a resource template.
    Complete {
        /// The template, or a URI, as the client wrote it.
        template: String,
        /// The name of the variable.
        argument: String,
        /// What has been typed so far.
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

impl Call {
    /// Whether calls of this kind take effect in the order in which they were sent: unsubscribing ends the subscription
    /// that came before it, even while that is still being made.
    pub(crate) fn keeps_order(&self) -> bool {
        matches!(self, Self::Subscribe { .. } | Self::Unsubscribe { .. } | Self::Listen(_))
    }
}

/// The result of a call that could be served.
#[derive(Debug)]
pub enum Outcome {
    /// Every tool, in a fixed order.
    Tools(Vec<ToolDefinition>),
    /// What a tool gave, be it an error.
    Tool(ToolResult),
    /// The answer of a tool, which may be an error.
    Resources(ResourcePage),
    /// One resource's contents.
    Contents(Contents),
    /// The templates.
    ResourceTemplates(Vec<ResourceTemplate>),
    /// A page of prompts.
    Prompts(PromptPage),
    /// The messages of a prompt.
    Prompt(PromptMessages),
    /// Possible values of a variable.
    Completion(Completion),
    /// The client is subscribed to a resource from now on.
    Subscribe(Subscription),
    /// The client is no longer subscribed to a resource.
    Unsubscribe(Subject),
    /// A stream begins.
    Listen(Listening),
}

/// Why a call could not be served. A tool that ran and failed is an [`Outcome`], because the model should see it.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no tool of this name.
    UnknownTool(String),
    /// A parameter is invalid; the text says which one and what to send instead.
    InvalidParams(String),
    /// A URI that is malformed or leads outside the served directory. The text is the same whether or not the target
    /// exists.
    BadUri {
        /// As the client wrote it.
        uri: String,
        /// What is wrong with it.
        message: String,
    },
    /// Inside the directory, but does not exist.
    ResourceNotFound {
        /// As the client wrote it.
        uri: String,
    },
    /// Exists but cannot be read: no permission, denied, too large, or not a regular file.
    Unreadable {
        /// As the client wrote it.
        uri: String,
        /// Why, and what to do next.
        message: String,
    },
    /// A method that is switched off by an option, or by its absence.
    SwitchedOff {
        /// Its name.
        method: &'static str,
        /// How the server runs: with which option, or without which.
        runs: &'static str,
    },
    /// The server failed.
    Internal(String),
    /// The client no longer wants the answer.
    Cancelled,
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
