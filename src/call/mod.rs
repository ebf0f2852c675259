//! The waist of the server: what can be asked, and what can come of it.
//!
//! The protocol layer translates requests into a [`Call`] and encodes an [`Outcome`] or [`Failure`] for the wire; features
//! turn the one into the other. Nothing here knows a revision, a JSON-RPC code or an id, so that a feature is written
//! once for all of them.
//!
//! | module | holds |
//! | --- | --- |
//! | `tool`, `resource`, `prompt` | what is given of tools, of resources and of prompts |
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

impl Call {
    /// Whether such calls take effect in the order in which they were sent: ending a subscription means the one that
    /// began before, and not one that is still being begun.
    pub(crate) fn keeps_order(&self) -> bool {
        matches!(self, Self::Subscribe { .. } | Self::Unsubscribe { .. } | Self::Listen(_))
    }
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
    /// A page of prompts.
    Prompts(PromptPage),
    /// What a prompt says.
    Prompt(PromptMessages),
    /// What a variable can be.
    Completion(Completion),
    /// The client is to hear of a resource from now on.
    Subscribe(Subscription),
    /// It is not to hear of one any more.
    Unsubscribe(Subject),
    /// A stream is to begin.
    Listen(Listening),
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
    /// A method that this server has, and that is switched off.
    SwitchedOff {
        /// Its name.
        method: &'static str,
        /// How the server runs: with which option, or without which.
        runs: &'static str,
    },
    /// The server failed.
    Internal(String),
    /// The client does not want the answer any more.
    Cancelled,
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
