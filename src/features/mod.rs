//! What the server can do: the work behind each [`Call`](crate::call::Call).
//!
//! A feature knows the root and its own arguments. It knows no revision and nothing of the wire: what it gives back is
//! plain data, encoded elsewhere.
//!
//! | module | holds |
//! | --- | --- |
//! | [`dispatch`] | a call to the feature that serves it |
//! | [`tools`] | one file a tool, and the registry |
//! | [`resources`] | list, read, templates, subscriptions |
//! | [`prompts`] | list, get; from a file to what is said |
//! | [`completion`] | what a path that is being typed can become |
//! | `search` | names by glob, and text by ripgrep's engine |
//! | `edit` | texts in a file found and replaced, from bytes to bytes |
//! | [`text`] | bytes to text: encodings, and windows of lines |
//! | [`content`] | media types; what is text at all |
//! | [`mod@format`] | paths, numbers and times as answers write them |

mod completion;
mod content;
pub mod dispatch;
mod edit;
mod format;
pub mod prompts;
mod resources;
mod search;
mod text;
mod tools;
