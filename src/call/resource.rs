//! Resources as they are listed, what they hold, and what a template's variable can be.

use serde::Serialize;

use crate::bytes::Bytes;
use crate::root::write::Version;
use crate::text::Text;

/// What a resource holds.
#[derive(Debug)]
pub struct Contents {
    /// As it was asked for.
    pub uri: String,
    /// The media type.
    pub mime_type: String,
    /// The bytes.
    pub data: Data,
    /// Set when `data` is not all of it.
    pub continues: Option<Continuation>,
    /// By which a later write can tell that the file has changed; only where files can be written.
    pub version: Option<Version>,
}

/// Text or not.
#[derive(Debug)]
pub enum Data {
    /// Valid UTF-8 without NUL.
    Text(Text),
    /// Anything else; sent as base64.
    Blob(Bytes),
}

impl Data {
    /// Text where `is_text` says so and the bytes are UTF-8.
    pub(crate) fn from_bytes(bytes: Bytes, is_text: bool) -> Self {
        if !is_text {
            return Self::Blob(bytes);
        }
        Text::from_bytes(bytes).map_or_else(Self::Blob, Self::Text)
    }
}

/// Where what was asked for lies in a resource.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Continuation {
    /// This is a part, and there is another one.
    Next {
        /// The first byte of the file that is in this part.
        from: u64,
        /// The first byte that is not.
        to: u64,
        /// The file's size in bytes.
        total: u64,
        /// The URI that goes on at `to`.
        next: String,
    },
    /// It begins past the end: there is nothing to give.
    PastEnd {
        /// The file's size in bytes.
        total: u64,
    },
}

/// A list of files, as good as all their names for telling whether it is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub u64);

/// A page of `resources/list`.
#[derive(Debug)]
pub struct ResourcePage {
    /// In order: shallow first.
    pub resources: Vec<Resource>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// Set when the list was cut: how many entries it was cut to.
    pub truncated: Option<usize>,
    /// How many entries ignore files hid; 0 where the list was cut.
    pub ignored: usize,
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
