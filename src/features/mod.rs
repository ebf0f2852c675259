//! What the server can do: the work behind each [`Call`](crate::call::Call).
//!
//! A feature knows the root and its own arguments. It knows no era and nothing of the wire: what it gives back is
//! plain data, dressed elsewhere.
//!
//! | module | holds |
//! | --- | --- |
//! | [`tools`] | one file a tool, and the registry |
//! | [`resources`] | list, read, templates, subscriptions |
//! | [`completion`] | what a path that is being typed can become |
//! | [`watch`] | noticing that something changed |
//! | `search` | names by glob, and text by ripgrep's engine |
//! | `edit` | texts in a file found and replaced, from bytes to bytes |
//! | [`text`] | bytes to text: encodings, and windows of lines |
//! | [`content`] | media types; what is text at all |
//! | [`names`] | paths, numbers and times as answers write them |

pub mod completion;
pub mod content;
mod edit;
mod format;
pub mod resources;
mod search;
mod text;
pub mod tools;
pub mod watch;
