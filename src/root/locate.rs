//! Turns what a client asked for into a path below the served directory, purely by its text; the disk is not touched.
//!
//! Three spellings are accepted: relative to the directory; absolute inside it (as given on the command line, or with
//! all links resolved); and a `file://` URI of either. Anything else leads outside, and is rejected without checking
//! whether it exists.

pub(super) mod windows;

use std::borrow::Cow;

use super::path::{LONGEST, RelPath};
use super::uri::{self, UriPath};
use super::{Root, RootError};

/// A path as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPath {
    /// Below the served directory; may still contain `..`.
    pub path: RelPath,
    /// It was written with a final `/`, so it must be a directory.
    pub directory: bool,
}

impl Root {
    /// Parses a `path` argument: relative, absolute, or a `file://` URI.
    pub fn locate(&self, asked: &str) -> Result<RequestedPath, RootError> {
        if uri::is_file_uri(asked) && asked[5..].starts_with('/') {
            return self.locate_uri(asked);
        }
        if asked.contains('\0') {
            return Err(RootError::BadPath("a path cannot contain a NUL character"));
        }
        self.below(asked.as_bytes(), is_absolute(asked.as_bytes()))
    }

    /// Parses a URI, or a reference relative to the served directory. A fragment, and a query that is not one of ours,
    /// are part of the name: files are called `a#b` and `what?`.
    pub fn locate_uri(&self, uri: &str) -> Result<RequestedPath, RootError> {
        match uri::decode(uri).map_err(|bad| RootError::BadPath(bad.message()))? {
            UriPath::Relative(path) => self.below(&path, is_absolute(&path)),
            // On Windows `file:///C:/dir` names `C:/dir`.
            UriPath::Absolute(path) if cfg!(windows) => self.below(path.strip_prefix(b"/").unwrap_or(&path), true),
            UriPath::Absolute(path) => self.below(&path, true),
        }
    }

    /// A glob without the path of the served directory in front, if it has that.
    pub fn strip_root<'p>(&self, glob: &'p str) -> &'p str {
        let below = |root: &RelPath| {
            let root = std::str::from_utf8(root.as_bytes()).ok()?;
            if cfg!(windows) {
                return windows::below(glob, root);
            }
            let rest = glob.strip_prefix('/')?.strip_prefix(root)?;
            if root.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
        };
        self.spellings.iter().find_map(below).unwrap_or(glob)
    }

    /// A partially typed path, with `/` as the only separator.
    pub(crate) fn with_slashes(typed: &str) -> Cow<'_, str> {
        if cfg!(windows) { typed.replace('\\', "/").into() } else { typed.into() }
    }

    /// Whether a partially typed path does not begin at the served directory.
    pub(crate) fn is_absolute(typed: &str) -> bool {
        is_absolute(typed.as_bytes())
    }

    /// The absolute `file://` URI of a path below the served directory.
    pub fn uri(&self, path: &RelPath) -> String {
        let mut uri = String::with_capacity(self.uri.len() + path.as_bytes().len() + 8);
        uri.push_str(&self.uri);
        if !path.is_root() {
            if !uri.ends_with('/') {
                uri.push('/');
            }
            uri::encode(path.as_bytes(), &mut uri);
        }
        uri
    }

    /// The URI of `asked`: itself, or if it is relative, with its base in front.
    pub fn absolute_uri(&self, asked: &str, path: &RelPath) -> String {
        if uri::is_file_uri(asked) && uri::is_well_formed(asked) { asked.to_owned() } else { self.uri(path) }
    }

    fn below(&self, path: &[u8], absolute: bool) -> Result<RequestedPath, RootError> {
        let path = separators(path);
        let directory = path.ends_with(b"/");
        let mut path = RelPath::from_bytes(&path);
        if absolute {
            let below = self.spellings.iter().find_map(|root| strip(&path, root));
            #[cfg(mcp_fs_unsandboxed)]
            let below = below.or_else(|| Some(self.from_the_top(&path)));
            path = below.ok_or(RootError::Outside)?;
        }
        // Each path above it is checked, so it must not be a megabyte long.
        if path.as_bytes().len() > LONGEST {
            return Err(RootError::BadPath("the path, or a name in it, is too long"));
        }
        must_be_names(&path)?;
        Ok(RequestedPath { path, directory })
    }

    /// The path in a link's target, and whether it is relative to the served directory rather than to the link.
    pub(super) fn target_of_link(&self, target: &[u8]) -> Result<(RelPath, bool), RootError> {
        let is_absolute = is_absolute(target);
        let mut path = RelPath::from_bytes(&separators(target));
        if is_absolute {
            path = strip(&path, &self.spellings[0]).ok_or(RootError::Outside)?;
        }
        must_be_names(&path)?;
        Ok((path, is_absolute))
    }
}

/// Fails if Windows would read another name than the one that is written, which patterns are compared with.
fn must_be_names(path: &RelPath) -> Result<(), RootError> {
    if cfg!(windows) && path.components().any(is_other_name) {
        return Err(RootError::BadPath("on Windows a name cannot contain \":\" or end with a dot or a space"));
    }
    Ok(())
}

/// `path` without the components of `root`, if it starts with them.
fn strip(path: &RelPath, root: &RelPath) -> Option<RelPath> {
    let mut components = path.components();
    for expected in root.components() {
        let found = components.next()?;
        let same = if cfg!(windows) { found.eq_ignore_ascii_case(expected) } else { found == expected };
        if !same {
            return None;
        }
    }
    let mut rest = RelPath::root();
    components.for_each(|component| rest.push(component));
    Some(rest)
}

/// What Windows treats as another name: a stream of a file, or a name with an ending that is dropped.
fn is_other_name(name: &[u8]) -> bool {
    name != b".." && (name.contains(&b':') || name.ends_with(b".") || name.ends_with(b" "))
}

/// With `/` as the only separator.
fn separators(path: &[u8]) -> Cow<'_, [u8]> {
    if cfg!(windows) { windows::with_slashes(path) } else { path.into() }
}

fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/") || (cfg!(windows) && windows::is_absolute(path))
}
