//! Every known way out of a directory, and how each must end: the table for `escapes`.
//!
//! `{root}` is the served directory, `{outside}` its parent, `{ROOT}` the root in capitals, and `{dots}` a thousand
//! times `../`. `escapes::tree` creates the links.

use Want::{Bad, Missing, NotDirectory, Outside};

/// How an attempt must end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Want {
    /// It leads outside; resources/read: -32602.
    Outside,
    /// It is an ordinary name that does not exist; resources/read: the code for a missing resource.
    Missing,
    /// A component of the path is a file.
    NotDirectory,
    /// It is not a valid path, and the answer contains this word; resources/read: -32602.
    Bad(&'static str),
}

/// Attempts with the same result for a tool and resources/read.
pub(crate) const LEADS_OUTSIDE: &[&str] = &[
    // Up.
    "..",
    "../",
    "../..",
    "../secret",
    "../secret/",
    "../secret/leaf",
    "./../secret",
    ".//..//secret",
    "../target",
    "../target/leaf",
    "../nowhere",
    "inner/../../secret",
    "inner/./.././../secret",
    "{dots}secret",
    // Out and in again is out.
    "../root",
    "../root/inside.txt",
    // Absolute.
    "/",
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "{outside}",
    "{outside}/secret",
    "/{outside}/secret",
    "//localhost{outside}/secret",
    "{root}/../secret",
    "{root}/./inner/../../secret",
    "{ROOT}/inside.txt",
    // A sibling whose name begins like the root's.
    "{root}-evil",
    "{root}-evil/secret",
    "{root}/../root-evil/secret",
    "../root-evil/secret",
    // URIs.
    "file:///",
    "file://",
    "file:///etc/passwd",
    "file://{outside}/secret",
    "file:{outside}/secret",
    "FILE://LocalHost{outside}/secret",
    "file://{root}/../secret",
    "file://{root}/%2e%2e/secret",
    "file://{root}/%2E%2E/secret",
    "file://{root}/.%2e/secret",
    "file://{root}/inner/%2e./../secret",
    "file://localhost{root}/../secret",
    "file:///../../..{outside}/secret",
    "file://{root}-evil/secret",
    "file://{root}%2devil/secret",
    "file://{root}?x/../../secret",
    "file://{root}/../secret#inside.txt",
    "file://{root}/../secret?inside.txt",
    // Links out, named.
    "out",
    "./out",
    "{root}/out",
    "file://{root}/out",
    "file://{root}/o%75t",
    "out/",
    "out/leaf",
    "out-absolute",
    "dangling",
    "dangling/leaf",
    "evil",
    "slash",
    "environ",
    "proc-root",
    // Links to a directory outside, and paths through them.
    "out-dir",
    "out-dir/",
    "out-dir/leaf",
    "out-dir/no-such-leaf",
    "out-dir/..",
    "out-dir/../secret",
    "out-dir/../root/inside.txt",
    "out-dir-absolute/leaf",
    "slash/etc/passwd",
    "proc-root/etc/passwd",
    "out/../inside.txt",
    // Links to `..`.
    "up",
    "up/secret",
    "up/root/inside.txt",
    "inner/up2/secret",
    // Links to links.
    "chain1",
    "dir-chain1/leaf",
    "to-inner/up2/secret",
    "to-inner/../out",
    "to-out",
    // Absolute links that begin like the root and lead outside.
    "through-root",
    "to-sibling/secret",
    "round",
    "round-absolute",
];

/// The others: the request, the result of a tool, and that of resources/read.
pub(crate) const OTHERS: &[(&str, Want, Want)] = &[
    // Ordinary names on Unix.
    ("..\\secret", Missing, Missing),
    ("inner\\..\\..\\secret", Missing, Missing),
    ("\\\\localhost\\secret", Missing, Missing),
    ("C:\\secret", Missing, Missing),
    ("C:/secret", Missing, Missing),
    ("file://{root}/..\\secret", Missing, Missing),
    ("file://{root}/..%5csecret", Missing, Missing),
    ("~/secret", Missing, Missing),
    ("$PWD/../secret", Missing, Missing),
    (".../secret", Missing, Missing),
    ("\u{2025}/secret", Missing, Missing),
    ("\u{ff0e}\u{ff0e}/secret", Missing, Missing),
    ("..\u{2215}secret", Missing, Missing),
    (".. /secret", Missing, Missing),
    // Where `..` leads depends on the handle: nowhere, if the path before it does not exist or is a file.
    ("missing/../../secret", Missing, Missing),
    ("inside.txt/../../secret", NotDirectory, Missing),
    // In a path, percent signs are literal; in a URI they are escapes, decoded once.
    ("%2e%2e/secret", Missing, Outside),
    ("..%2fsecret", Missing, Bad("separator")),
    ("%2fetc%2fpasswd", Missing, Bad("separator")),
    ("inside.txt%00", Missing, Bad("NUL")),
    ("file://{root}/%252e%252e/secret", Missing, Missing),
    ("file://{root}/%c0%ae%c0%ae/secret", Missing, Missing),
    ("file://{root}/%u002e%u002e/secret", Missing, Missing),
    ("file://{root}/%2e%2e%2fsecret", Bad("separator"), Bad("separator")),
    ("file://{root}%2f..%2fsecret", Bad("separator"), Bad("separator")),
    ("file://{root}/inside.txt%00", Bad("NUL"), Bad("NUL")),
    ("file://{root}/..%00/secret", Bad("NUL"), Bad("NUL")),
    ("inside.txt\0", Bad("NUL"), Bad("NUL")),
    ("../secret\0.txt", Bad("NUL"), Bad("NUL")),
    // Other hosts, other schemes.
    ("file://host/secret", Bad("host"), Bad("host")),
    ("file://host{root}/inside.txt", Bad("host"), Bad("host")),
    ("file://user@localhost{root}/inside.txt", Bad("host"), Bad("host")),
    ("file://127.0.0.1{outside}/secret", Bad("host"), Bad("host")),
    ("file://..{root}/../secret", Bad("host"), Bad("host")),
    ("http://localhost/secret", Missing, Bad("file://")),
    ("smb://localhost/secret", Missing, Bad("file://")),
    ("file:../secret", Missing, Outside),
    // A range does not hide what precedes it.
    ("file://{root}/../secret?offset=1", Outside, Outside),
    ("../secret?offset=1&limit=1", Outside, Outside),
    ("out?offset=1", Missing, Outside),
];
