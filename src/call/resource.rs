//! Resources: how they are listed, what they contain, and the values of a template's variables.

use serde::Serialize;

use crate::bytes::Bytes;
use crate::root::write::Version;
use crate::text::Text;

/// The contents of a resource.
#[derive(Debug)]
pub struct Contents {
    /// As the client asked for it.
    pub uri: String,
    /// The media type.
    pub mime_type: String,
    /// The bytes.
    pub data: Data,
    /// Set if `data` is only a part.
    pub continues: Option<Continuation>,
    /// Lets a later write detect that the file has changed. Present only if clients may write.
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
    /// Text if `is_text` is set and the bytes are valid; otherwise a blob.
    pub(crate) fn from_bytes(bytes: Bytes, is_text: bool) -> Self {
        if !is_text {
            return Self::Blob(bytes);
        }
        Text::from_bytes(bytes).map_or_else(Self::Blob, Self::Text)
    }
}

/// Where a part lies in its resource.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Continuation {
    /// This is a part, and another one follows.
    Next {
        /// The offset of the first byte of this part.
        from: u64,
        /// The offset of the first byte after this part.
        to: u64,
        /// The file's size in bytes.
        total: u64,
        /// The URI of the next part, which begins at `to`.
        next: String,
    },
    /// The part begins past the end, so there is nothing to return.
    PastEnd {
        /// The file's size in bytes.
        total: u64,
    },
}

/// Identifies a list of files. Two lists with the same fingerprint hold the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub u64);

/// A page of `resources/list`.
#[derive(Debug)]
pub struct ResourcePage {
    /// Shallow paths first.
    pub resources: Vec<Resource>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// Set if the list was cut: the number of entries it was cut to.
    pub truncated: Option<usize>,
    /// How many entries ignore files hid; 0 if the list was cut.
    pub ignored: usize,
    /// On the first page: identifies this list, to compare it with later ones.
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
    /// Guessed from the name; absent if the name does not tell.
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
    /// ISO 8601, in UTC.
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

/// Possible values of a variable that is being typed.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// Whole values, the best first, at most 100.
    pub values: Vec<String>,
    /// How many there are in all.
    pub total: usize,
    /// Whether there are more than `values` holds.
    pub has_more: bool,
}
