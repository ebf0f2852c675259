//! Denied names: no operation returns them, by any spelling or link, and no listing shows them.

use serde_json::json;

use super::{OPERATIONS, READ_RESOURCE, ask};
use crate::support::{Client, LATEST_LEGACY, SECRET_MARKER, TestServer, Tree};

/// Denied by default; each contains the marker that no answer may contain.
const DENIED: &[(&str, &str)] = &[
    (".env", ".env"),
    ("sub/.env", ".env"),
    ("upper/.ENV", ".env"),
    (".Env.Local", ".env.*"),
    (".netrc", ".netrc"),
    (".pgpass", ".pgpass"),
    (".ssh/config", ".ssh/"),
    ("sub/.SSH/known_hosts", ".ssh/"),
    (".gnupg/ring", ".gnupg/"),
    (".aws/credentials", ".aws/"),
    ("sub/.kube/config", "**/.kube/config"),
    ("id_rsa", "id_rsa"),
    ("keys/ID_ED25519", "id_ed25519"),
    ("keys/id_ecdsa", "id_ecdsa"),
];

/// Links to denied files, to directories that contain them, and to directories above.
const LINKS: &[(&str, &str)] = &[
    ("dotenv", ".env"),
    ("dotenv-absolute", "{root}/sub/.env"),
    ("dotenv-chain", "dotenv"),
    ("keyring", ".gnupg"),
    ("cloud", "{root}/.aws"),
    ("sub-link", "sub"),
];

fn tree() -> Tree {
    let mut tree = Tree::new().file("plain.txt", "plain\n").file(".env.example", "KEY=\n").file("id_rsa.pub", "pub\n");
    for (path, _) in DENIED {
        tree = tree.file(path, SECRET_MARKER);
    }
    for (link, target) in LINKS {
        tree = tree.link(link, target);
    }
    tree
}

#[test]
fn denied_names_are_refused_by_every_operation_with_the_pattern_and_the_flag() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        for (path, pattern) in DENIED {
            for asked in [(*path).to_owned(), format!("./sub/../{path}"), tree.uri(path), format!("{path}/")] {
                let answer = ask(&mut server, &tree, operation, &asked);
                let words = answer.words();
                assert!(answer.is_refusal(), "{operation} {asked}: {words}");
                assert!(words.contains(&format!("the pattern \"{pattern}\"")), "{operation} {asked}: {words}");
                assert!(words.contains("--no-default-deny"), "{operation} {asked}: {words}");
            }
        }
    }
}

#[test]
fn links_do_not_lead_to_denied_names() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let ways = [
        ("dotenv", ".env"),
        ("dotenv-absolute", ".env"),
        ("dotenv-chain", ".env"),
        ("keyring", ".gnupg/"),
        ("keyring/ring", ".gnupg/"),
        ("cloud/credentials", ".aws/"),
        ("sub-link/.env", ".env"),
        ("sub-link/.SSH/known_hosts", ".ssh/"),
        ("sub-link/.kube/config", "**/.kube/config"),
    ];
    for operation in OPERATIONS {
        for (way, pattern) in ways {
            let answer = ask(&mut server, &tree, operation, way);
            let names_pattern = answer.words().contains(&format!("the pattern \"{pattern}\""));
            assert!(answer.is_refusal() && names_pattern, "{operation} {way}: {answer:?}");
        }
    }
}

#[test]
fn a_denied_resource_has_the_code_that_clients_show() {
    let tree = tree();
    let mut modern = TestServer::start(&tree);
    assert_eq!(ask(&mut modern, &tree, READ_RESOURCE, &tree.uri(".env")).code(), Some(-32603));
    let mut legacy = TestServer::start(&tree).legacy(LATEST_LEGACY);
    assert_eq!(ask(&mut legacy, &tree, READ_RESOURCE, &tree.uri("%2Eenv").replace("%25", "%")).code(), Some(-32603));
}

#[test]
fn answers_do_not_reveal_whether_a_denied_name_exists() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        for (there, missing) in [(".ssh/config", ".ssh/nothing"), ("sub/.env", "keys/.env"), ("./.aws", "keys/.aws")] {
            let [there, missing] = [there, missing]
                .map(|path| ask(&mut server, &tree, operation, path).0.to_string().replace(path, "ASKED"));
            assert_eq!(there, missing, "{operation}");
        }
    }
}

/// A denied directory denies everything below it, whichever way leads there.
#[test]
fn a_link_does_not_reveal_whether_a_denied_directory_contains_a_name() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        for (there, missing) in [("keyring/ring", "keyring/nothing"), ("cloud/credentials", "cloud/nothing")] {
            let [there, missing] = [there, missing]
                .map(|path| ask(&mut server, &tree, operation, path).0.to_string().replace(path, "ASKED"));
            assert_eq!(there, missing, "{operation}");
        }
    }
}

#[test]
fn no_listing_shows_denied_names() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let mut shown = String::new();
    for path in [".", "sub", "sub-link", "upper", "keys", "sub/.kube"] {
        for tool in ["list_directory", "list_directory_with_sizes"] {
            shown += &ask(&mut server, &tree, tool, path).words();
        }
        shown += &ask(&mut server, &tree, READ_RESOURCE, &tree.uri(path)).words();
    }
    for arguments in [json!({}), json!({"includeIgnored": true}), json!({"path": "sub"})] {
        shown += &server.tool_text("directory_tree", arguments);
    }
    shown += &server.result("resources/list", json!({})).to_string();
    for (path, _) in DENIED {
        let name = path.rsplit('/').next().unwrap();
        // Not `contains`: `.env` is in `.env.example`, and `config` in other words.
        let is_name = |word: &str| word.trim_end_matches(['"', ',']).rsplit(['/', '"']).next() == Some(name);
        assert!(!shown.split_whitespace().any(is_name), "{path} is shown in:\n{shown}");
    }
    assert!([".ssh", ".SSH", ".gnupg", ".aws"].iter().all(|dir| !shown.contains(&format!("[DIR] {dir}"))), "{shown}");
    assert!([".env.example", "id_rsa.pub", "plain.txt"].iter().all(|name| shown.contains(name)), "{shown}");
}

#[test]
fn a_listing_mentions_denied_entries_without_names_or_counts() {
    let one = Tree::new().file(".env", SECRET_MARKER).file("plain.txt", "plain\n");
    let many = Tree::new().file("a.pem", SECRET_MARKER).file("b.pem", SECRET_MARKER).file("plain.txt", "plain\n");
    let [mut one_server, mut many_server] = [&one, &many].map(|tree| TestServer::builder(tree).deny("*.pem").start());
    for tool in ["list_directory", "list_directory_with_sizes"] {
        let answer = ask(&mut one_server, &one, tool, ".");
        assert!(answer.words().contains("[denied entries are not shown]"), "{tool}: {answer:?}");
        assert_eq!(answer.words(), ask(&mut many_server, &many, tool, ".").words(), "{tool}");
    }
}

/// Only for the requested path does the answer name the pattern that denies it.
#[test]
fn no_answer_about_a_denied_entry_names_its_pattern() {
    let tree =
        Tree::new().file("d/e/key.pem", SECRET_MARKER).file("d/.pgpass", SECRET_MARKER).file("d/a.txt", "text\n");
    let mut server = TestServer::builder(&tree).allow_write().deny("*.pem").deny("/x/a.txt").start();
    let mut said = String::new();
    for operation in OPERATIONS {
        for path in ["d", "d/e", "."] {
            said += &ask(&mut server, &tree, operation, path).words();
        }
    }
    for path in ["d", "d/e"] {
        said += &server.tool_error("delete_file", json!({"path": path, "recursive": true}));
        said += &server.tool_error("move_file", json!({"source": path, "destination": "new"}));
        said += &server.tool_error("copy_file", json!({"source": path, "destination": "new"}));
    }
    std::fs::create_dir(tree.join("f")).and_then(|()| std::fs::write(tree.join("f/a.txt"), "")).expect("a file");
    said += &server.tool_error("move_file", json!({"source": "f", "destination": "x"}));
    for hidden in [".pem", "key", "pgpass", "--deny", "no-default-deny", "/x/a.txt", "1 denied", "2 denied"] {
        assert!(!said.contains(hidden), "{hidden} is in:\n{said}");
    }
    let error = server.tool_error("read_text_file", json!({"path": "d/e/key.pem"}));
    assert!(error.contains("\"*.pem\" given with --deny"), "{error}");
}

/// On NTFS `.env:` is `.env`, and on FAT `.ssh.` is `.ssh`; the server does not check which kind of disk it is on.
#[test]
fn alternate_streams_and_trailing_dots_of_denied_names_are_denied() {
    let tree = tree().file(".env::$DATA", SECRET_MARKER).file("keys/id_rsa.", SECRET_MARKER).file("a:b", "plain\n");
    let mut server = TestServer::builder(&tree).allow_write().start();
    for operation in OPERATIONS {
        for path in
            [".env:", ".env::$DATA", "sub/.ENV:x", ".ssh./config", ".ssh::$INDEX_ALLOCATION/config", "keys/id_rsa."]
        {
            let answer = ask(&mut server, &tree, operation, path);
            let is_denied = answer.words().contains("denied by") || cfg!(windows);
            assert!(answer.is_refusal() && is_denied, "{operation} {path}: {answer:?}");
        }
    }
    for path in [".env:", "new/.Netrc:stream", ".aws..", "id_rsa:"] {
        server.tool_error("write_file", json!({"path": path, "content": "x", "createParents": true}));
    }
    let listed =
        server.tool_text("list_directory", json!({})) + &server.tool_text("list_directory", json!({"path": "keys"}));
    assert!(listed.contains("a:b") && !listed.contains("$DATA") && !listed.contains("id_rsa.\n"), "{listed}");
}

#[test]
fn patterns_from_the_option_add_to_the_defaults() {
    let tree = Tree::new()
        .file("key.pem", SECRET_MARKER)
        .file("sub/KEY.PEM", SECRET_MARKER)
        .file("top.txt", SECRET_MARKER)
        .file("sub/top.txt", "not at the top\n")
        .file("private/notes.txt", SECRET_MARKER)
        .file("cafe\u{301}.txt", SECRET_MARKER)
        .file(".env", SECRET_MARKER)
        .link("link", "private/notes.txt");
    let patterns = ["*.pem", "/top.txt", "Private/", "caf\u{e9}.txt"];
    let server = patterns.iter().fold(TestServer::builder(&tree), |builder, pattern| builder.deny(pattern));
    let mut server = server.start();
    for operation in OPERATIONS {
        for (path, pattern) in [
            ("key.pem", "*.pem"),
            ("sub/KEY.PEM", "*.pem"),
            ("top.txt", "/top.txt"),
            ("private/notes.txt", "Private/"),
            ("private", "Private/"),
            ("link", "Private/"),
            ("caf\u{e9}.txt", "caf\u{e9}.txt"),
            ("cafe\u{301}.txt", "caf\u{e9}.txt"),
        ] {
            let answer = ask(&mut server, &tree, operation, path);
            let want = format!("denied by the pattern \"{pattern}\" given with --deny");
            assert!(answer.is_refusal() && answer.words().contains(&want), "{operation} {path}: {answer:?}");
        }
        assert!(ask(&mut server, &tree, operation, ".env").is_refusal(), "{operation}");
    }
    assert_eq!(server.tool_text("read_text_file", json!({"path": "sub/top.txt"})), "not at the top\n");
    let listed = server.result("resources/list", json!({}));
    assert_eq!(listed["resources"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn the_flag_disables_the_default_patterns_only() {
    let tree = Tree::new().file(".env", "KEY=1\n").file(".ssh/config", "Host\n").file("key.pem", SECRET_MARKER);
    let mut server = TestServer::builder(&tree).no_default_deny().deny("*.pem").start();
    assert_eq!(server.tool_text("read_text_file", json!({"path": ".env"})), "KEY=1\n");
    assert!(server.tool_text("list_directory", json!({"path": ".ssh"})).contains("[FILE] config"));
    let listed = server.result("resources/list", json!({}));
    let uris: Vec<&str> = listed["resources"].as_array().unwrap().iter().map(|r| r["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, [tree.uri(".env"), tree.uri(".ssh/config")]);
    for operation in OPERATIONS {
        assert!(ask(&mut server, &tree, operation, "key.pem").is_refusal(), "{operation}");
    }
}

#[test]
fn leftovers_of_killed_writes_are_never_served() {
    let tree = Tree::new().file(".mcp-fs-1a2b.tmp", SECRET_MARKER).file("sub/.mcp-fs-3c4d.tmp", SECRET_MARKER);
    let mut server = TestServer::builder(&tree).no_default_deny().start();
    for operation in OPERATIONS {
        for path in [".mcp-fs-1a2b.tmp", "sub/.mcp-fs-3c4d.tmp"] {
            assert!(ask(&mut server, &tree, operation, path).is_refusal(), "{operation} {path}");
        }
    }
    assert_eq!(server.result("resources/list", json!({}))["resources"], json!([]));
    let shown = server.tool_text("directory_tree", json!({"includeIgnored": true}));
    assert!(!shown.contains(".tmp"), "{shown}");
}
