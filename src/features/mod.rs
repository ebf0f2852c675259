//! What the server can do: the work behind each [`Call`](crate::call::Call).
//!
//! A feature knows the root and its own arguments. It knows no revision and nothing of the wire: its result is plain
//! data, encoded elsewhere.
//!
//! | module | holds |
//! | --- | --- |
//! | [`dispatch`] | from a call to the feature that serves it |
//! | [`tools`] | one file per tool, and the registry |
//! | [`resources`] | list, read, templates, subscriptions |
//! | [`prompts`] | list, get; from a file to messages |
//! | [`completion`] | completion of paths |
//! | `search` | search by name with globs, and by content with ripgrep's engine |
//! | `edit` | find and replace in a file, from bytes to bytes |
//! | [`text`] | from bytes to text: encodings, and windows of lines |
//! | [`content`] | media types, and what counts as text |
//! | [`mod@format`] | how answers write paths, numbers and times |

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
