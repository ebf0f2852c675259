//! Names that are never given out: keys and secrets that a model has no business with.
//!
//! Patterns are in gitignore syntax, without negation, compared without regard to case, Unicode form and characters that
//! cannot be seen. A denied directory denies all that is below it. The check is made twice: on the path as asked, before
//! the disk is touched, and on the path that was really opened, so that no link leads there. A hard link is another name
//! for the same file, and is not detected; nor are the short names that Windows may make up.

use std::borrow::Cow;
use std::sync::OnceLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use unicode_normalization::UnicodeNormalization;

use super::RootError;
use super::error::DeniedBy;
use super::path::{RelPath, os_str};

/// Denied unless `--no-default-deny` is given, because clients read resources without asking. The negated lines are
/// exceptions of this list only.
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

/// What a write leaves behind when it is killed; never served.
const OWN: &str = ".mcp-fs-*.tmp";

/// The denied names.
#[derive(Debug)]
pub struct Deny {
    patterns: Vec<String>,
    defaults: bool,
    /// Compiled when the first name is looked at: start-up does not wait for it.
    matcher: OnceLock<Matcher>,
}

#[derive(Debug)]
struct Matcher {
    /// `None` denies everything.
    gitignore: Option<Gitignore>,
    /// Which first bytes a name can have that a pattern's last component matches. Most names are ruled out by it.
    first_bytes: Box<[bool; 256]>,
}

impl Deny {
    /// Reads `patterns`; the error says which one is wrong, and why.
    pub fn new(patterns: &[String], defaults: bool) -> Result<Self, String> {
        for pattern in patterns {
            if pattern.contains("${") {
                return Err(format!("--deny {pattern:?}: the client did not replace the variable"));
            }
            if pattern.trim().is_empty() || pattern.starts_with(['!', '#']) {
                return Err(format!("--deny {pattern:?}: not a pattern (negation, comments and blanks are not taken)"));
            }
            let mut builder = GitignoreBuilder::new("");
            builder.add_line(None, &fold(pattern)).map_err(|error| format!("--deny {pattern:?}: {error}"))?;
        }
        let deny = Self { patterns: patterns.to_vec(), defaults, matcher: OnceLock::new() };
        if !patterns.is_empty() {
            // All together can still be too much.
            let matcher = deny.compile().map_err(|error| format!("--deny: {error}"))?;
            let _ = deny.matcher.set(matcher);
        }
        Ok(deny)
    }

    /// `Err` when the path, or anything above it, is denied.
    pub fn check(&self, path: &RelPath) -> Result<(), RootError> {
        let matcher = self.matcher();
        if !path.components().any(|name| matcher.may_match(name)) {
            return Ok(());
        }
        // Once for all the paths above it: a long one has thousands. Folding neither makes nor takes a separator.
        let folded = fold(&String::from_utf8_lossy(path.as_bytes())).into_owned();
        let ends = memchr::memchr_iter(b'/', folded.as_bytes()).chain([folded.len()]);
        for (name, end) in path.components().zip(ends) {
            if matcher.may_match(name) {
                self.check_folded(&folded[..end])?;
            }
        }
        Ok(())
    }

    /// Whether a name in a directory that is not denied itself is denied.
    pub fn is_denied_in(&self, directory: &RelPath, name: &[u8]) -> bool {
        if !self.matcher().may_match(name) {
            return false;
        }
        let path = directory.join(name);
        self.check_folded(&fold(&String::from_utf8_lossy(path.as_bytes()))).is_err()
    }

    fn check_folded(&self, path: &str) -> Result<(), RootError> {
        // As a directory: a pattern for one denies a file of that name too, which errs on the safe side.
        let Some(gitignore) = &self.matcher().gitignore else { return Err(self.denied("all")) };
        match gitignore.matched(os_str(path.as_bytes()), true) {
            ignore::Match::Ignore(glob) => Err(self.denied(glob.original())),
            _ => Ok(()),
        }
    }

    fn denied(&self, folded: &str) -> RootError {
        let given = self.patterns.iter().find(|pattern| fold(pattern) == folded);
        let of = match given {
            Some(_) => DeniedBy::Option,
            None if folded == OWN => DeniedBy::Server,
            None => DeniedBy::Default,
        };
        RootError::Denied { pattern: given.map_or(folded, String::as_str).to_owned(), of }
    }

    fn matcher(&self) -> &Matcher {
        // Only the default list comes here uncompiled, and a test compiles that. If it failed, all would be denied.
        self.matcher.get_or_init(|| {
            self.compile().unwrap_or_else(|_| Matcher { gitignore: None, first_bytes: Box::new([true; 256]) })
        })
    }

    fn compile(&self) -> Result<Matcher, ignore::Error> {
        let defaults = DEFAULT.iter().copied().filter(|_| self.defaults);
        Matcher::new(defaults.chain([OWN]).chain(self.patterns.iter().map(String::as_str)))
    }
}

impl Matcher {
    fn new<'p>(patterns: impl Iterator<Item = &'p str>) -> Result<Self, ignore::Error> {
        let mut builder = GitignoreBuilder::new("");
        let mut first_bytes = Box::new([false; 256]);
        first_bytes[0x80..].fill(true); // folding can change what is not ASCII
        for pattern in patterns {
            let pattern = fold(pattern);
            builder.add_line(None, &pattern)?;
            match first_byte(&pattern) {
                Some(byte) => {
                    first_bytes[usize::from(byte)] = true;
                    first_bytes[usize::from(byte.to_ascii_uppercase())] = true;
                }
                None => first_bytes.fill(true),
            }
        }
        Ok(Self { gitignore: Some(builder.build()?), first_bytes })
    }

    fn may_match(&self, name: &[u8]) -> bool {
        name.first().is_some_and(|byte| self.first_bytes[usize::from(*byte)])
    }
}

/// The byte that every name begins with which a pattern's last component matches; `None` where there is not one only.
fn first_byte(pattern: &str) -> Option<u8> {
    if pattern.contains('{') {
        return None; // alternatives may hold separators
    }
    let last = pattern.trim_end().trim_end_matches('/').rsplit('/').next()?;
    // What is not ASCII may be written as another character and a mark on it.
    last.bytes().next().filter(|byte| byte.is_ascii() && !b"*?[\\".contains(byte))
}

/// Lower case, in normal form C.
fn fold(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(text);
    }
    // Up and down again: `ſ` and `ß` are `s` and `ss` to APFS, NTFS and ext4 where these do not tell cases apart.
    // (Not the compatibility forms: they make a `/` of some characters.)
    let visible = text.nfc().filter(|c| !is_ignorable(*c));
    Cow::Owned(visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect())
}

/// Characters that HFS+ and ext4 do not see in a name (Unicode's `Default_Ignorable_Code_Point`, the ones in use): to
/// them `.e\u{200b}nv` is `.env`.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
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

    /// What other names file systems take for these that do not tell cases apart (CVE-2014-9390 was git's).
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
        ] {
            assert!(denied(&deny, path), "{path:?}");
        }
        for path in ["\u{200b}", "a/\u{2105}/b", "stra\u{df}e"] {
            assert!(!denied(&deny, path), "{path:?}");
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
        assert!(error(".env").contains("\".env\"; the server's --no-default-deny"));
        assert!(error(".mcp-fs-0.tmp").ends_with("the server's own temporary files"));
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
