//! Directories and files mounted at a second place, if the tests may do that, which mostly means as root.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bind mount, until it is dropped: before the tree that contains it.
#[derive(Debug)]
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    /// Mounts `from` at `at`, a directory or a file. `None`, with a notice, if that is not permitted.
    pub(crate) fn bind(from: &Path, at: &Path) -> Option<Self> {
        let mount = Command::new("mount").arg("--bind").args([from, at]).output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_owned()));
        }
        // Not eprintln!, which cargo test shows only for failed tests.
        let _ = std::io::stderr().write_all(b"SKIPPED: a bind mount: mounting is not permitted\n");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily, because the server may be using it at this moment.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
