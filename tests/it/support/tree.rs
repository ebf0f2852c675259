//! A directory to serve: `root`, and beside it `secret`, a file that must never be seen.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The content of `secret`. [`super::conversation`] fails every test in which the server sends it.
pub(crate) const SECRET_MARKER: &str = "SECRET-OUTSIDE-DIR";
/// Its form at the beginning of a blob.
pub(super) const SECRET_MARKER_BASE64: &str = "U0VDUkVULU9VVFNJREUtRElS";

/// A temporary directory, created as described:
///
/// ```ignore
/// let tree = Tree::new().file("src/main.rs", "fn main() {}\n").link("out", "../secret").fifo("pipe");
/// ```
///
/// Missing parents are created. Everything is removed on drop.
#[derive(Debug)]
pub(crate) struct Tree {
    around: TempDir,
    root: PathBuf,
    /// Directories whose mode was changed: their content could not be removed otherwise.
    locked: Vec<PathBuf>,
}

impl Tree {
    /// An empty `root` beside `secret`.
    pub(crate) fn new() -> Self {
        Self::around(tempfile::tempdir().expect("a temporary directory"))
    }

    /// The same in memory, if the system has a directory there: for very many entries.
    pub(crate) fn in_memory() -> Self {
        tempfile::tempdir_in("/dev/shm").map_or_else(|_| Self::new(), Self::around)
    }

    fn around(around: TempDir) -> Self {
        let root = plain(&around.path().canonicalize().expect("its path")).join("root");
        fs::create_dir(&root).expect("root");
        fs::write(around.path().join("secret"), format!("{SECRET_MARKER}\n")).expect("secret");
        Self { around, root, locked: Vec::new() }
    }

    /// Makes a file.
    pub(crate) fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.place(path.as_ref()), content)
            .unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()));
        self
    }

    /// Makes a file whose name is not text.
    #[cfg(unix)]
    pub(crate) fn file_bytes_name(self, path: &[u8], content: impl AsRef<[u8]>) -> Self {
        use std::os::unix::ffi::OsStrExt as _;
        self.file(std::ffi::OsStr::from_bytes(path), content)
    }

    /// Makes a directory.
    pub(crate) fn dir(self, path: impl AsRef<Path>) -> Self {
        fs::create_dir_all(self.place(path.as_ref())).expect("a directory");
        self
    }

    /// Makes a symbolic link. In the target, `{root}` is the served directory and `{outside}` its parent.
    #[cfg(unix)]
    pub(crate) fn link(self, path: impl AsRef<Path>, target: &str) -> Self {
        let text = |path: &Path| path.to_str().expect("a path that is text").to_owned();
        let target = target.replace("{root}", &text(&self.root)).replace("{outside}", &text(self.outside()));
        std::os::unix::fs::symlink(target, self.place(path.as_ref())).expect("a link");
        self
    }

    /// Makes a named pipe.
    #[cfg(unix)]
    pub(crate) fn fifo(self, path: impl AsRef<Path>) -> Self {
        // With the program, because rustix has no mkfifo on macOS.
        let made = std::process::Command::new("mkfifo").arg(self.place(path.as_ref())).status();
        assert!(made.expect("mkfifo runs").success(), "a named pipe");
        self
    }

    /// Makes a socket that nobody listens on.
    #[cfg(unix)]
    pub(crate) fn socket(self, path: impl AsRef<Path>) -> Self {
        drop(std::os::unix::net::UnixListener::bind(self.place(path.as_ref())).expect("a socket"));
        self
    }

    /// Sets permission bits. See [`super::permissions_bind`].
    #[cfg(unix)]
    pub(crate) fn mode(mut self, path: impl AsRef<Path>, bits: u32) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.root.join(path);
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).expect("a mode");
        self.locked.extend(path.is_dir().then_some(path));
        self
    }

    /// Gives the served directory another name than `root`.
    pub(crate) fn renamed(mut self, name: &str) -> Self {
        let root = self.outside().join(name);
        fs::rename(&self.root, &root).expect("another name");
        self.root = root;
        self
    }

    /// The served directory: absolute, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    /// The absolute path of an entry.
    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// The parent of the served directory, which contains `root` and `secret`.
    pub(crate) fn outside(&self) -> &Path {
        self.root.parent().expect("root is in a directory")
    }

    /// The `file://` URI of an entry; of the directory itself for an empty path.
    pub(crate) fn uri(&self, path: impl AsRef<Path>) -> String {
        // Not join: it would add a final slash for an empty path.
        let path = path.as_ref();
        file_uri(&if path.as_os_str().is_empty() { self.root.clone() } else { self.root.join(path) })
    }

    /// The place for `path`, whose parents are created.
    fn place(&self, path: &Path) -> PathBuf {
        let place = self.root.join(path);
        fs::create_dir_all(place.parent().expect("below root")).expect("parents");
        place
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        #[cfg(unix)]
        for path in &self.locked {
            use std::os::unix::fs::PermissionsExt as _;
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        }
    }
}

/// A path as people write it, and as the server shows it.
pub(crate) fn plain(path: &Path) -> PathBuf {
    path.to_str().and_then(|path| path.strip_prefix(r"\\?\")).map_or_else(|| path.to_owned(), PathBuf::from)
}

/// The `file://` URI of an absolute path, percent-encoded except for what RFC 3986 allows in a path.
pub(crate) fn file_uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    if cfg!(windows) && !path.starts_with("/") {
        uri.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(*byte)),
            byte if b"-._~!$&'()*+,;=:@/".contains(byte) => uri.push(char::from(*byte)),
            byte => write!(uri, "%{byte:02X}").expect("a String takes all"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_is_detected_in_base64_too() {
        assert_eq!(base64_simd::STANDARD.encode_to_string(SECRET_MARKER), SECRET_MARKER_BASE64);
    }

    #[test]
    fn uris_are_percent_encoded() {
        assert_eq!(file_uri(Path::new("/a b/#é%.txt")), "file:///a%20b/%23%C3%A9%25.txt");
    }

    #[cfg(unix)]
    #[test]
    fn a_tree_is_created_as_described() {
        let tree = Tree::new().file("d/a", "x").link("in", "{root}/d/a").link("out", "{outside}/secret").fifo("pipe");
        assert_eq!(fs::read(tree.join("in")).unwrap(), b"x");
        assert!(fs::read_to_string(tree.join("out")).unwrap().contains(SECRET_MARKER));
        assert!(!fs::metadata(tree.join("pipe")).unwrap().is_file());
        assert_eq!(tree.uri(""), file_uri(tree.path()));
    }
}
