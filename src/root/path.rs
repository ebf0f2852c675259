//! A path below the served directory, as plain components.
//!
//! Nothing here touches the disk. `..` may occur among the components: only the file system knows where it leads,
//! because a link may precede it (see [`super::resolve`]).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::Path;

/// The longest path that a system call accepts, in bytes: Linux also counts the final NUL.
pub(super) const LONGEST: usize = 4_095;

/// Components joined by `/`; empty for the served directory itself. No component is empty or `.`.
///
/// On Unix any bytes except `/` and NUL; elsewhere UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Vec<u8>);

impl RelPath {
    /// The served directory itself.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// From bytes with components separated by `/`; empty components and `.` are dropped.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut path = Self::root();
        for component in bytes.split(|b| *b == b'/') {
            if !matches!(component, b"" | b".") {
                path.push(component);
            }
        }
        path
    }

    /// Appends a component.
    pub(crate) fn push(&mut self, name: &[u8]) {
        if !self.0.is_empty() {
            self.0.push(b'/');
        }
        self.0.extend_from_slice(name);
    }

    /// Removes the last component; `false` at the root.
    pub(crate) fn pop(&mut self) -> bool {
        let had_one = !self.is_root();
        self.0.truncate(memchr::memrchr(b'/', &self.0).unwrap_or(0));
        had_one
    }

    /// This path with one more component.
    #[must_use]
    pub fn join(&self, name: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(self.0.len() + 1 + name.len());
        bytes.extend_from_slice(&self.0);
        let mut path = Self(bytes);
        path.push(name);
        path
    }

    /// Whether this is the served directory itself.
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The components joined by `/`.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// For system calls: `.` for the root.
    pub(super) fn as_path(&self) -> &Path {
        if self.0.is_empty() { Path::new(".") } else { Path::new(os_str(&self.0)) }
    }

    /// The components in order; none for the root.
    pub fn components(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|b| *b == b'/').filter(|component| !component.is_empty())
    }

    /// The number of components.
    pub(crate) fn depth(&self) -> usize {
        if self.is_root() { 0 } else { memchr::memchr_iter(b'/', &self.0).count() + 1 }
    }

    /// Whether an entry of this directory can be accessed by its path. A path that is too long for a system call can be
    /// listed but not reached.
    pub(crate) fn can_lead_to(&self, name: &[u8]) -> bool {
        self.0.len() + 1 + name.len() <= LONGEST
    }

    /// The part after `start`, which must be this path or one above it.
    pub(crate) fn below(&self, start: &Self) -> &[u8] {
        let rest = &self.0[start.0.len().min(self.0.len())..];
        rest.strip_prefix(b"/").unwrap_or(rest)
    }

    /// The last component; `None` for the root.
    pub fn file_name(&self) -> Option<&[u8]> {
        (!self.is_root()).then(|| self.0.rsplit(|b| *b == b'/').next().unwrap_or(&self.0))
    }

    /// All but the last component.
    #[must_use]
    pub fn parent(&self) -> Self {
        let mut parent = self.clone();
        parent.pop();
        parent
    }

    /// This path and all paths above it except the root, shallowest first.
    pub fn and_above(&self) -> impl Iterator<Item = Self> {
        let ends = memchr::memchr_iter(b'/', &self.0).chain((!self.is_root()).then_some(self.0.len()));
        ends.map(|end| Self(self.0[..end].to_vec()))
    }

    /// Whether `..` is among the components.
    pub(crate) fn has_parent_refs(&self) -> bool {
        self.components().any(|component| component == b"..")
    }

    /// For people; invalid UTF-8 is replaced. The root is `.`.
    pub fn display(&self) -> Cow<'_, str> {
        if self.is_root() { Cow::Borrowed(".") } else { String::from_utf8_lossy(&self.0) }
    }

    /// Shallow first, then component by component: the order of `resources/list`.
    pub(crate) fn shallow_first(&self, other: &Self) -> Ordering {
        self.depth().cmp(&other.depth()).then_with(|| self.components().cmp(other.components()))
    }
}

/// The bytes of a name as the system takes them. Outside Unix, a name must be UTF-8; other bytes name nothing.
#[cfg(unix)]
pub(super) fn os_str(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

#[cfg(not(unix))]
pub(super) fn os_str(bytes: &[u8]) -> &OsStr {
    OsStr::new(std::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn empty_components_and_dots_are_dropped() {
        assert_eq!(RelPath::from_bytes(b"./a//b/./c/").as_bytes(), b"a/b/c");
        assert!(RelPath::from_bytes(b"./").is_root());
        assert_eq!(RelPath::from_bytes(b"a/../b").as_bytes(), b"a/../b");
    }

    #[test]
    fn shallow_first_compares_component_by_component() {
        let order = ["b", "z", "a/z", "a!/a", "b/a", "a/a/a"].map(|p| RelPath::from_bytes(p.as_bytes()));
        let mut sorted = order.clone();
        sorted.sort_by(RelPath::shallow_first);
        assert_eq!(sorted, order);
    }

    proptest! {
        /// A small alphabet finds what random strings do not.
        #[test]
        fn components_are_a_path_s_whole_truth(parts in prop::collection::vec("[ab./é]{0,3}", 0..6)) {
            let text = parts.join("/");
            let path = RelPath::from_bytes(text.as_bytes());
            let want: Vec<_> = text.split('/').filter(|c| !c.is_empty() && *c != ".").collect();
            prop_assert_eq!(path.components().collect::<Vec<_>>(), want.iter().map(|c| c.as_bytes()).collect::<Vec<_>>());
            prop_assert_eq!(path.depth(), want.len());
            prop_assert_eq!(path.file_name(), want.last().map(|c| c.as_bytes()));
            prop_assert_eq!(RelPath::from_bytes(path.as_bytes()), path.clone());
            if let Some(name) = path.file_name() {
                prop_assert_eq!(path.parent().join(name), path);
            }
        }
    }
}
