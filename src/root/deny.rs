//! Names that are never served: keys and secrets that are none of a model's business.
//!
//! They are a list of [patterns](super::patterns), checked twice: against the requested path before the disk is
//! touched, and against the path that was really opened, so that no link leads to a denied file; on Windows, no short
//! name does either (`sys/windows.rs`). A hard link is another name of the same file and is not detected.

use super::RootError;
use super::error::DeniedBy;
use super::path::RelPath;
use super::patterns::{Found, Patterns};

/// Denied unless `--no-default-deny` is given, because clients read resources without asking the user. The negated
/// lines are exceptions within this list only.
const DEFAULT: &[&str] = &[
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    ".netrc",
    ".pgpass",
    ".ssh/",
    ".gnupg/",
    ".aws/",
    "**/.kube/config",
    "id_rsa",
    "id_ecdsa",
    "id_ed25519",
];

/// Temporary files of writes that were killed; never served.
const OWN: &str = ".mcp-fs-*.tmp";

/// The denied names.
#[derive(Debug)]
pub struct Deny(Patterns);

impl Deny {
    /// Parses `patterns`. The error says which one is invalid, and why.
    pub fn new(patterns: &[String], defaults: bool) -> Result<Self, String> {
        let defaults = DEFAULT.iter().copied().filter(|_| defaults).chain([OWN]).collect();
        Patterns::new("--deny", patterns, defaults).map(Self)
    }

    /// `Err` if the path or anything above it is denied.
    pub fn check(&self, path: &RelPath) -> Result<(), RootError> {
        let Some(Found { pattern, is_given }) = self.0.find(path) else { return Ok(()) };
        let of = match is_given {
            true => DeniedBy::Option,
            false if pattern == OWN => DeniedBy::Server,
            false => DeniedBy::Default,
        };
        Err(RootError::Denied { pattern, of })
    }

    /// Whether a name is denied in a directory that is not denied itself.
    pub fn is_denied_in(&self, directory: &RelPath, name: &[u8]) -> bool {
        self.0.match_in(directory, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(deny: &Deny, path: &str) -> bool {
        let path = RelPath::from_bytes(path.as_bytes());
        let whole = deny.check(&path).is_err();
        let by_steps = (0..path.depth()).any(|depth| {
            let mut above = RelPath::root();
            path.components().take(depth).for_each(|c| above.push(c));
            path.components().nth(depth).is_some_and(|name| deny.is_denied_in(&above, name))
        });
        assert_eq!(whole, by_steps, "a walk and an open must agree on {path:?}");
        whole
    }

    #[test]
    fn secrets_are_denied_by_default() {
        let deny = Deny::new(&[], true).expect("no patterns");
        for path in [
            ".env",
            "a/.env",
            ".ENV",
            ".env.local",
            ".ssh",
            "home/.ssh/config",
            ".aws/credentials",
            ".kube/config",
            "a/.kube/config",
            "id_rsa",
            "keys/ID_ED25519",
            ".netrc",
            ".mcp-fs-1a2b.tmp",
        ] {
            assert!(denied(&deny, path), "{path}");
        }
        for path in [".env.example", ".environment", "env", "id_rsa.pub", ".kube/cache", "ssh", "config"] {
            assert!(!denied(&deny, path), "{path}");
        }
    }

    /// Names that case-insensitive file systems take for a denied one (in git, this was CVE-2014-9390).
    #[test]
    fn other_spellings_of_a_secret_are_denied_too() {
        let deny = Deny::new(&[], true).expect("no patterns");
        for path in [
            ".\u{17f}sh/config",
            ".\u{df}h/config",
            ".e\u{200b}nv",
            "\u{200d}.env",
            ".en\u{ad}v",
            ".AW\u{17f}/credentials",
            ".\u{1e9e}h/config",
            "\u{fff0}.env",
            ".en\u{1bca0}v",
            ".s\u{1d173}sh/x",
            ".\u{212a}ube/con\u{fb01}g",
            "\u{131}d_rsa",
        ] {
            assert!(denied(&deny, path), "{path:?}");
        }
        for path in ["\u{200b}", "a/\u{2105}/b", "stra\u{df}e"] {
            assert!(!denied(&deny, path), "{path:?}");
        }
    }

    /// Streams of a denied file or directory, and endings that are dropped: `.env:` revealed the secret on NTFS.
    #[test]
    fn what_windows_takes_for_a_secret_is_denied_everywhere() {
        let deny = Deny::new(&["a:b/secret".to_owned()], true).expect("a pattern");
        for path in [
            ".env:",
            "a/.ENV::$DATA",
            ".env:x.example",
            ".ssh:$I30:$INDEX_ALLOCATION/config",
            ".ssh./config",
            "id_rsa. .",
            ".netrc ",
            ".e\u{200b}nv:s",
            "dir:x/.kube /config.",
            "a:b/secret",
        ] {
            assert!(denied(&deny, path), "{path}");
        }
        for path in [":.env", "a:.env", "x.env:", "id_rsa.pub:", ".", "a. ", "..."] {
            assert!(!denied(&deny, path), "{path}");
        }
    }

    #[test]
    fn patterns_are_gitignore_s_and_compare_folded() {
        let patterns = ["*.PEM", "/top", "private/", "caf\u{e9}"].map(str::to_owned);
        let deny = Deny::new(&patterns, false).expect("valid patterns");
        for path in ["a.pem", "x/B.Pem", "top", "top/x", "a/private/x", "CAFE\u{301}"] {
            assert!(denied(&deny, path), "{path}");
        }
        for path in ["a/top", ".env", "pem"] {
            assert!(!denied(&deny, path), "{path}");
        }
    }

    #[test]
    fn the_error_names_the_pattern_as_it_was_given() {
        let deny = Deny::new(&["*.PEM".to_owned()], true).expect("a valid pattern");
        let error = |path: &str| deny.check(&RelPath::from_bytes(path.as_bytes())).expect_err("denied").to_string();
        assert_eq!(error("a.pem"), "denied by the pattern \"*.PEM\" given with --deny");
        assert!(error(".env").contains("\".env\"; --no-default-deny"));
        assert!(error(".mcp-fs-0.tmp").ends_with("reserved for temporary files of the server"));
    }

    #[test]
    fn a_quick_look_never_lets_through_what_a_pattern_matches() {
        for (pattern, path) in [
            ("{keys/a,certs/b}", "keys/a"),
            ("\u{e9}tat.txt", "e\u{301}tat.txt"),
            ("[xy]z", "yz"),
            ("\\#a", "#a"),
            ("a/**", "a/b"),
            ("Z*", "zebra"),
        ] {
            let deny = Deny::new(&[pattern.to_owned()], false).expect("a pattern");
            assert!(denied(&deny, path), "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["${SECRETS}", "!a", "", " ", "# x", "a{b"] {
            assert!(Deny::new(&[pattern.to_owned()], true).is_err(), "{pattern:?}");
        }
    }
}
