//! The text of Windows paths: with `\` as well as `/`, in the form in which every name is literal (`\\?\C:\dir`), and
//! on other machines (`\\server\share\dir`, `\\?\UNC\server\share\dir`).

use std::borrow::Cow;

/// A path as people write it, if it is in the system's own form and has another one.
pub(in crate::root) fn plain(path: &str) -> Cow<'_, str> {
    let Some(rest) = path.strip_prefix(r"\\?\") else { return path.into() };
    match rest.strip_prefix(r"UNC\") {
        Some(share) => format!(r"\\{share}").into(),
        None if begins_with_drive(rest.as_bytes()) => rest.into(),
        None => path.into(),
    }
}

/// With `/` as the only separator, in the form that people write.
pub(super) fn with_slashes(path: &[u8]) -> Cow<'_, [u8]> {
    let mut path = Cow::Borrowed(path);
    if path.contains(&b'\\') {
        path.to_mut().iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    let Some(rest) = path.strip_prefix(b"//?/").or(path.strip_prefix(b"/??/")) else { return path };
    match rest.split_at_checked(4) {
        Some((unc, share)) if unc.eq_ignore_ascii_case(b"UNC/") => [b"//", share].concat().into(),
        _ if begins_with_drive(rest) => rest.to_vec().into(),
        _ => path,
    }
}

/// Whether a path begins at a drive or at the top of one, rather than at the current or the served directory.
pub(super) fn is_absolute(path: &[u8]) -> bool {
    matches!(path, [b'/' | b'\\', ..]) || begins_with_drive(path)
}

/// `C:`, with or without a separator: without one, the rest is relative to an unknown directory.
fn begins_with_drive(path: &[u8]) -> bool {
    matches!(path, [_, b':', ..])
}

/// The part after `root`, a path of components, in a glob that begins with it. A `\` in that part is an escape, and
/// stays.
pub(super) fn below<'g>(glob: &'g str, root: &str) -> Option<&'g str> {
    if !is_absolute(glob.as_bytes()) {
        return None;
    }
    let prefix = [r"\\?\UNC\", "//?/UNC/", r"\\?\", "//?/", r"\??\"].iter().find(|prefix| glob.starts_with(**prefix));
    let text = glob[prefix.map_or(0, |prefix| prefix.len())..].trim_start_matches(['/', '\\']);
    let begin = text.get(..root.len())?.replace('\\', "/");
    let rest = begin.eq_ignore_ascii_case(root).then(|| &text[root.len()..])?;
    rest.strip_prefix(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_as_the_plain_one() {
        for (path, want) in [
            (r"\\?\C:\a\b", r"C:\a\b"),
            (r"\\?\UNC\server\share\a", r"\\server\share\a"),
            (r"\\?\Volume{1}\a", r"\\?\Volume{1}\a"),
            (r"C:\a", r"C:\a"),
            (r"\\server\share", r"\\server\share"),
        ] {
            assert_eq!(plain(path), want, "{path}");
        }
        for (path, want) in [
            (r"a\b/c", "a/b/c"),
            (r"\\?\C:\a", "C:/a"),
            ("//?/c:/a", "c:/a"),
            (r"\??\C:\a", "C:/a"),
            (r"\\?\unc\server\share\a", "//server/share/a"),
            (r"\\?\GLOBALROOT\Device", "//?/GLOBALROOT/Device"),
            (r"\\.\C:\a", "//./C:/a"),
            ("a/b", "a/b"),
        ] {
            assert_eq!(with_slashes(path.as_bytes()), want.as_bytes(), "{path}");
        }
    }

    #[test]
    fn a_glob_is_taken_from_the_root_in_every_form() {
        for glob in ["C:/srv/**", r"c:\SRV\**", r"\\?\C:\srv\**", "//?/C:/srv/**"] {
            assert_eq!(below(glob, "C:/srv"), Some("**"), "{glob}");
        }
        for glob in [r"\\server\share\**", "//server/share/**", r"\\?\UNC\server\share\**"] {
            assert_eq!(below(glob, "server/share"), Some("**"), "{glob}");
        }
        for glob in ["C:/srv2/**", "C:/srv", "srv/**", "server/share/**", "**", "C:/s\u{e9}v/**"] {
            assert_eq!(below(glob, "C:/srv"), None, "{glob}");
        }
    }
}
