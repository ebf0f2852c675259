//! A Unix socket, created with its final permissions so that nobody else can connect at any moment, and never over
//! another file.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::{Gid, Mode, RawMode};

use super::{HttpOptions, is_inside};
use crate::cli::StartupError;
use crate::root::Root;
use crate::transport::http::listener::Bound;

impl HttpOptions {
    pub(super) fn bind_unix(&self, path: &Path, root: &Root) -> Result<Bound, StartupError> {
        let cannot = |error: io::Error| StartupError(format!("cannot listen on unix:{}: {error}", path.display()));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if is_inside(parent, root).map_err(cannot)? {
            return Err(StartupError(format!("the socket {} is inside DIR; put it elsewhere", path.display())));
        }
        let mode = self.mode()?;
        remove_stale(path)?;
        // Nobody else may connect before the permissions are set.
        let before = rustix::process::umask(Mode::from_raw_mode(0o177));
        let bound = UnixListener::bind(path);
        rustix::process::umask(before);
        let listener = bound.map_err(cannot)?;
        if let Some(group) = self.socket_group {
            rustix::fs::chown(path, None, Some(Gid::from_raw(group))).map_err(|error| cannot(error.into()))?;
        }
        if let Some(mode) = mode {
            rustix::fs::chmod(path, mode).map_err(|error| cannot(error.into()))?;
        }
        listener.set_nonblocking(true).map_err(cannot)?;
        Ok(Bound::Unix(listener))
    }

    fn mode(&self) -> Result<Option<Mode>, StartupError> {
        let Some(mode) = &self.socket_mode else { return Ok(None) };
        let parsed = RawMode::from_str_radix(mode, 8).ok().filter(|mode| *mode <= 0o777);
        let mode = parsed.ok_or_else(|| StartupError("--socket-mode must be octal, such as 660".to_owned()))?;
        Ok(Some(Mode::from_raw_mode(mode)))
    }
}

/// Removes the socket that an earlier server of this user left: one without a listener. Any other file stays.
fn remove_stale(path: &Path) -> Result<(), StartupError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let is_ours = found.file_type().is_socket() && found.uid() == rustix::process::geteuid().as_raw();
    let refused =
        || matches!(UnixStream::connect(path), Err(error) if error.kind() == io::ErrorKind::ConnectionRefused);
    if is_ours && refused() {
        return fs::remove_file(path)
            .map_err(|error| StartupError(format!("cannot remove the old socket {}: {error}", path.display())));
    }
    let path = path.display();
    Err(StartupError(format!(
        "{path} exists, and is in use or not a socket of this user; remove it, or choose another"
    )))
}
