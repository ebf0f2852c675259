//! Names that are not created, although some system would: here they mean something else than the client thinks.

use super::WriteError;
use crate::root::RelPath;
use crate::root::RootError;

/// Fails where what is missing at the end of `path`, asked for as `asked`, must not be created on this system.
pub(super) fn must_be_creatable(asked: &RelPath, path: &RelPath) -> Result<(), WriteError> {
    if cfg!(unix) {
        return if looks_like_windows(asked) { Err(WriteError::WindowsPath) } else { Ok(()) };
    }
    if std::str::from_utf8(path.as_bytes()).is_err() {
        return Err(RootError::BadPath("a name must be valid UTF-8 on this system").into());
    }
    if cfg!(windows) && path.components().any(is_device) {
        return Err(RootError::BadPath("on Windows this name means a device").into());
    }
    Ok(())
}

/// `C:\x`, `C:/x`, `\\server\share`: a client that thinks in another system's paths would create these as names.
fn looks_like_windows(asked: &RelPath) -> bool {
    let first = asked.components().next().unwrap_or_default();
    let is_drive = matches!(first, [letter, b':', rest @ ..] if letter.is_ascii_alphabetic()
        && rest.first().is_none_or(|next| *next == b'\\'));
    is_drive || first.starts_with(br"\\")
}

/// `NUL`, `con.txt`: writes there are lost, and reads wait for a keyboard.
fn is_device(name: &[u8]) -> bool {
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default().trim_ascii_end();
    let is_numbered = |stem: &[u8]| matches!(stem, [b'c', b'o', b'm', b'1'..=b'9'] | [b'l', b'p', b't', b'1'..=b'9']);
    let stem = stem.to_ascii_lowercase();
    [&b"con"[..], b"prn", b"aux", b"nul", b"conin$", b"conout$"].contains(&stem.as_slice()) || is_numbered(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_paths_are_told_from_names() {
        for path in [r"C:\x", "C:/x", "c:", r"\\srv\x", r"z:\"] {
            assert!(looks_like_windows(&RelPath::from_bytes(path.as_bytes())), "{path}");
        }
        for path in ["C:x", "CC:/x", r"a\b", r"\x", "a/C:/x", "1:/x", "", ":"] {
            assert!(!looks_like_windows(&RelPath::from_bytes(path.as_bytes())), "{path}");
        }
    }

    #[test]
    fn devices_are_told_from_files() {
        for name in ["NUL", "con.txt", "Com1", "lpt9.a.b", "aux ", "CONOUT$"] {
            assert!(is_device(name.as_bytes()), "{name}");
        }
        for name in ["null", "com", "com10", "a.nul", "", ".con", "console.txt"] {
            assert!(!is_device(name.as_bytes()), "{name}");
        }
    }
}
