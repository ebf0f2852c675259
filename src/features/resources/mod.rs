//! Resources: every regular file below the served directory, by its `file://` URI
//! (<https://modelcontextprotocol.io/specification/2025-11-25/server/resources>).
//!
//! | module | holds |
//! | --- | --- |
//! | [`list`](self::list()) | `resources/list`, in pages |
//! | [`read`](self::read()) | `resources/read`: text, blobs, directories, parts of files |
//! | [`subscribe`](self::subscribe()) | `resources/subscribe`, `resources/unsubscribe`, `subscriptions/listen` |

mod list;
mod read;
mod subscribe;

pub(super) use self::list::list;
pub(super) use self::read::{media_type, path_of, read};
pub(super) use self::subscribe::{listen, subscribe, unsubscribe};
use crate::call::{Failure, ResourceTemplate};
use crate::root::{Root, RootError};

/// The only template: any path, optionally with a range of lines.
pub(super) fn templates(root: &Root) -> Vec<ResourceTemplate> {
    vec![ResourceTemplate {
        uri_template: base(root) + "{+path}{?offset,limit,column}",
        name: "file",
        title: Some("File or directory"),
        description: "Any file or directory by its path relative to the served directory. offset and limit choose \
            lines of a text, counted from 1; column is the first character of the first line.",
    }]
}

/// A disk error for a resource.
fn failure(uri: &str, error: RootError) -> Failure {
    let uri = uri.to_owned();
    match error {
        RootError::NotFound | RootError::NotDirectory => Failure::ResourceNotFound { uri },
        RootError::Outside => Failure::BadUri { uri, message: format!("The URI {error}.") },
        RootError::BadPath(_) => Failure::BadUri { uri, message: format!("The URI cannot be read: {error}.") },
        RootError::Cancelled => Failure::Cancelled,
        error => Failure::Unreadable { uri, message: format!("Cannot be read: {error}.") },
    }
}

/// The fixed beginning of the template: a path that follows it is relative to the served directory.
pub(super) fn base(root: &Root) -> String {
    let slash = if root.own_uri().ends_with('/') { "" } else { "/" };
    format!("{}{slash}", root.own_uri())
}
