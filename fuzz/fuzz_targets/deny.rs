//! Denied names: a walk and an open agree, everything below a denied directory is denied, and so is a name in another
//! case or Unicode form. Plain patterns deny what git would ignore.
//!
//! An input is paths, one per line, an empty line, and patterns, one per line.

#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use ignore::gitignore::GitignoreBuilder;
use libfuzzer_sys::fuzz_target;
use mcp_fs::root::{Deny, RelPath};
use unicode_normalization::UnicodeNormalization as _;

fuzz_target!(|text: &str| {
    let (paths, patterns) = text.split_once("\n\n").unwrap_or((text, ""));
    let patterns: Vec<String> = patterns.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let Ok(deny) = Deny::new(&patterns, true) else { return };
    let only = Deny::new(&patterns, false).expect("they were taken before");
    for path in paths.split('\n') {
        let is_denied = check(&deny, path);
        assert!(!is_denied || check(&deny, &format!("{path}/x")), "what is below {path:?} is not denied");
        let decomposed: String = path.nfd().collect();
        assert_eq!(check(&deny, &decomposed), is_denied, "{path:?}, decomposed");
        // (Upper case of all letters is not the other case of each: ß and others become two.)
        assert_eq!(check(&deny, &path.to_ascii_uppercase()), is_denied, "{path:?}, in capitals");
        assert!(is_denied || !check(&only, path), "{path:?} is denied by less");
        if let Some(expected) = expected(&patterns, path) {
            assert_eq!(check(&only, path), expected, "{patterns:?} {path:?}");
        }
    }
    assert!(check(&deny, ".mcp-fs-0.tmp") && check(&deny, "a/.env"), "patterns only add to what is denied");
});

/// Whether a path is denied, by itself and when a walk reaches it.
fn check(deny: &Deny, path: &str) -> bool {
    let path = RelPath::from_bytes(path.as_bytes());
    let is_denied = deny.check(&path).is_err();
    let is_denied_in = |step: RelPath| step.file_name().is_some_and(|name| deny.is_denied_in(&step.parent(), name));
    assert_eq!(is_denied, path.and_above().any(is_denied_in), "a walk and an open must agree on {path:?}");
    is_denied
}

/// Whether the patterns match the path or anything above it; `None` if folding plays a part.
fn expected(patterns: &[String], path: &str) -> Option<bool> {
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if !is_plain(path) || !patterns.iter().all(|pattern| is_plain(pattern)) {
        return None;
    }
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns.iter().map(String::as_str).chain([".mcp-fs-*.tmp"]) {
        builder.add_line(None, pattern).ok()?;
    }
    let matcher = builder.build().ok()?;
    let path = RelPath::from_bytes(path.as_bytes());
    let is_match = |path: RelPath| matcher.matched(OsStr::from_bytes(path.as_bytes()), true).is_ignore();
    Some(path.and_above().any(is_match))
}
