//! No spelling of a path leads to a denied file or outside, whatever the operation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::short_name;
use crate::sandbox::{OPERATIONS, READ_RESOURCE, SUBSCRIBE, request, skipped};
use crate::support::{Client, SECRET_MARKER, TestServer, Tree};
use crate::writes::changing;

fn tree() -> Tree {
    Tree::new()
        .file(".env", SECRET_MARKER)
        .file(".ssh/config", SECRET_MARKER)
        .file("sub/.env", SECRET_MARKER)
        .file("sub/file", "inside")
        .file("a", "inside")
        .file("tree/b", "inside")
}

/// Denied files and directories. `{root}` is the served directory with its drive, `{bare}` without.
const DENIED: [&str; 50] = [
    ".env",
    ".ENV",
    ".eNv",
    r".\.env",
    r"sub\..\.env",
    r"sub/..\.ENV",
    r"sub\.env",
    ".env.",
    ".env ",
    ".env. .",
    ".env::$DATA",
    ".env:x",
    ".env:",
    ".env.::$data",
    r".\.env:$DATA",
    r"sub\.env::$DATA",
    ".ssh",
    ".SSH",
    r".ssh\",
    r".ssh\config",
    r".SSH/CONFIG",
    r".ssh.\config",
    r".ssh \config",
    r".ssh\.\config",
    r".ssh\..\.ssh\config",
    r".ssh::$INDEX_ALLOCATION\config",
    ".ssh:$I30:$INDEX_ALLOCATION/config",
    r".ssh\config::$DATA",
    r"sub\..\.ssh\config",
    r"{root}\.env",
    r"{root}\.ENV::$DATA",
    r"{root}/.env",
    r"{root}\sub\..\.env",
    r"\\?\{root}\.env",
    r"\\?\{root}\.env::$DATA",
    r"\\?\{root}\.ssh\config",
    r"//?/{root}/.env",
    r"\??\{root}\.env",
    r"\\.\{root}\.env",
    r"//./{root}/.env",
    r"\\localhost\C$\{bare}\.env",
    r"//localhost/C$/{bare}/.env",
    r"\\127.0.0.1\c$\{bare}\.ssh\config",
    r"\\?\UNC\localhost\C$\{bare}\.env",
    r"\\?\GLOBALROOT\DosDevices\{root}\.env",
    r"\\.\GLOBALROOT\Device\HarddiskVolume1\{bare}\.env",
    r"\{bare}\.env",
    r"/{bare}/.env",
    "C:.env",
    r"c:.ssh\config",
];

/// Paths that lead outside, or nowhere.
const OUTSIDE: [&str; 31] = [
    r"..\secret",
    r"sub\..\..\secret",
    r"sub/..\../secret",
    r".\..\secret",
    r"..\root\..\secret",
    r"{root}\..\secret",
    r"\\?\{root}\..\secret",
    r"\\?\{root}\sub\..\..\secret",
    r"\??\{root}\..\secret",
    r"\\.\{root}\..\secret",
    r"\\?\C:\windows\win.ini",
    r"C:\windows\win.ini",
    r"c:/windows/win.ini",
    r"C:windows\win.ini",
    r"\windows\win.ini",
    r"/windows/win.ini",
    r"C:",
    r"C:\",
    r"C:..\secret",
    r"\\localhost\C$\windows\win.ini",
    r"\\?\UNC\localhost\C$\windows\win.ini",
    r"\\.\C:",
    r"\\.\PhysicalDrive0",
    r"\\.\pipe\x",
    r"\\.\NUL",
    r"\\?\NUL",
    r"..\secret::$DATA",
    r".. \secret",
    r"...\secret",
    r"..\\secret",
    r"sub\.. \..\secret",
];

/// Names that mean devices in every directory.
const DEVICES: [&str; 16] = [
    "NUL",
    "nul",
    "NUL.txt",
    "nul .txt",
    "CON",
    "con.x",
    "CONIN$",
    "CONOUT$",
    "AUX",
    "PRN",
    "COM1",
    "com9.log",
    "LPT1",
    "COM\u{b9}",
    "lpt\u{b2}.txt",
    r"sub\NUL",
];

fn spelled(tree: &Tree, spelling: &str) -> String {
    let root = tree.path().to_str().expect("text");
    let bare = root.get(3..).expect("a drive and more");
    spelling.replace("{root}", root).replace("{bare}", bare)
}

/// Every way to reach the denied files, including the short names that the system has given them.
fn denied(tree: &Tree) -> Vec<String> {
    let mut all: Vec<String> = DENIED.iter().map(|spelling| spelled(tree, spelling)).collect();
    let shorts = [("", ".env", ""), ("", ".ssh", r"\config"), ("sub", ".env", ""), ("", ".ssh", "")];
    for (directory, name, rest) in shorts {
        let Some(short) = short_name(tree, directory, name) else {
            skipped("short names", "this drive has none");
            continue;
        };
        let path = if directory.is_empty() { short } else { format!(r"{directory}\{short}") };
        for path in [path.clone(), path.to_lowercase(), format!(r"{{root}}\{path}"), format!(r"\\?\{{root}}\{path}")] {
            let path = spelled(tree, &format!("{path}{rest}"));
            all.extend([path.replace('\\', "/"), format!("{path}::$DATA"), path]);
        }
    }
    all
}

/// The surroundings of the served directory, with the content of files.
fn state(tree: &Tree) -> BTreeMap<String, Vec<u8>> {
    let entries = walkdir::WalkDir::new(tree.outside()).into_iter().map(|entry| entry.expect("an entry"));
    let content = |entry: &walkdir::DirEntry| std::fs::read(entry.path()).unwrap_or_default();
    entries.map(|entry| (entry.path().display().to_string(), content(&entry))).collect()
}

fn is_refused(answer: &Value) -> bool {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    answer.get("error").is_some() || answer["result"]["isError"] == true || text.contains(": Error - ")
}

/// The harness fails the test if the secret is sent, even in an error.
#[test]
fn no_spelling_reads_denied_files_or_the_outside() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let outside = OUTSIDE.iter().chain(&DEVICES).map(|spelling| spelled(&tree, spelling));
    for path in denied(&tree).into_iter().chain(outside) {
        for operation in OPERATIONS.into_iter().chain([SUBSCRIBE]) {
            let (method, params) = request(operation, &path);
            let answer = server.either(method, params);
            assert!(is_refused(&answer), "{operation} {path}: {answer}");
        }
    }
}

#[test]
fn no_uri_reads_denied_files_or_the_outside() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let encoded = |path: &str| path.replace('\\', "%5C").replace('$', "%24");
    let encoded_dots = [r"%2e%2e\secret", r"sub\%2E%2E\..\secret", r"%2eenv", r"%2essh\config"].map(str::to_owned);
    let outside = OUTSIDE.map(|spelling| spelled(&tree, spelling));
    for path in denied(&tree).iter().chain(&outside).chain(&encoded_dots) {
        let slashes = path.replace('\\', "/");
        for path in [path, &slashes, &encoded(path)] {
            for uri in [format!("file:///{path}"), format!("file:{path}"), format!("file://{path}"), encoded(path)] {
                for method in [READ_RESOURCE, SUBSCRIBE] {
                    let answer = server.either(method, json!({"uri": uri}));
                    assert!(is_refused(&answer), "{method} {uri}: {answer}");
                }
            }
        }
    }
}

#[test]
fn no_spelling_changes_denied_files_or_the_outside() {
    let tree = tree();
    let mut server = TestServer::builder(&tree).allow_write().start();
    let before = state(&tree);
    let outside = OUTSIDE.iter().chain(&DEVICES).map(|spelling| spelled(&tree, spelling));
    for path in denied(&tree).into_iter().chain(outside) {
        for (tool, arguments) in changing(&path) {
            let said = server.tool(tool, arguments.clone());
            assert!(said["isError"] == true, "{tool} {arguments}: {said}");
        }
        assert_eq!(state(&tree), before, "{path}");
    }
}

/// The short name of a file that is not denied is also another name, with which patterns are not compared.
#[test]
fn short_names_are_refused_and_the_listed_name_works() {
    let tree = Tree::new().file("a long name.text", "inside").file("long directory/file", "inside");
    let Some(file) = short_name(&tree, "", "a long name.text") else { return skipped("short names", "none here") };
    let directory = short_name(&tree, "", "long directory").expect("it has one, too");
    let mut server = TestServer::builder(&tree).allow_write().start();
    for path in [file, format!(r"{directory}\file"), format!("{directory}/new")] {
        for tool in ["read_text_file", "get_file_info", "delete_file"] {
            let said = server.tool_error(tool, json!({"path": path}));
            assert!(said.contains("use the name that the listing"), "{tool} {path}: {said}");
        }
        let said = server.tool_error("write_file", json!({"path": path, "content": "x"}));
        assert!(said.contains("use the name that the listing"), "{path}: {said}");
    }
    for path in ["a long name.text", "A LONG NAME.TEXT", r"Long Directory\FILE"] {
        assert_eq!(server.tool_text("read_text_file", json!({"path": path})), "inside", "{path}");
    }
}
