//! Group E: ways out of the served directory in other servers. The whole table of escapes is in [`crate::sandbox`];
//! here, each public report has its own input.

#![cfg_attr(not(unix), allow(unused_imports, reason = "most of these reports are about links"))]

use serde_json::json;

use crate::sandbox::{OPERATIONS, READ_RESOURCE, ask, asked};
use crate::support::{Client, LATEST_LEGACY, Process, SECRET_MARKER, TestServer, Tree};

/// modelcontextprotocol/servers #1845 (CVE-2025-53109): a link to a file outside could be read.
#[cfg(unix)]
#[test]
fn e1_every_reading_operation_refuses_links_outside() {
    let tree = Tree::new()
        .link("leak", "/etc/passwd")
        .link("parent", "..")
        .link("relative", "../secret")
        .link("chain", "d/chain")
        .link("d/chain", "{root}/relative")
        .link("d/through", "{root}/parent/secret");
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        for path in ["leak", "parent", "parent/secret", "relative", "chain", "d/chain", "d/through"] {
            let answer = ask(&mut server, &tree, operation, &asked(&tree, operation, path));
            let says_why = answer.words().contains("leads outside the served directory");
            assert!(answer.is_refusal() && says_why, "{operation} {path}: {answer:?}");
        }
    }
    let listed = server.tool_text("list_directory", json!({}));
    assert_eq!(listed, "[LINK] chain\n[DIR] d\n[LINK] leak\n[LINK] parent\n[LINK] relative");
    assert_eq!(server.result("resources/list", json!({}))["resources"], json!([]));
}

/// efforthye/fast-filesystem-mcp #23, cyanheads/filesystem-mcp-server #21: the check was lexical, so a path that looked
/// like one inside led outside.
#[cfg(unix)]
#[test]
fn e5_a_path_that_only_looks_inside_is_refused() {
    let tree = Tree::new().dir("d").link("d/link", "../..").link("e", "d/link/root/d/link");
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        for path in ["d/link/secret", "d/link/root/d", "e/secret", "d/../d/link/secret", "d/link/../secret"] {
            let answer = ask(&mut server, &tree, operation, &asked(&tree, operation, path));
            let says_why = answer.words().contains("leads outside the served directory");
            assert!(answer.is_refusal() && says_why, "{operation} {path}: {answer:?}");
        }
    }
}

/// gstack PR #1420 (one read in five escaped), `NexusContext` #72, o8 #1607: the link was swapped between the check and
/// the use.
#[cfg(target_os = "linux")]
#[test]
fn e6_two_thousand_reads_of_a_file_that_turns_into_a_link_never_escape() {
    use crate::sandbox::race::{Race, Stage, racing};

    let stage = Stage::new();
    let mut server = TestServer::start(&stage.tree).legacy(LATEST_LEGACY);
    let read_often = |race: &Race<'_>| {
        let mut rounds = 0;
        while race.goes_on(rounds >= 1_000) {
            rounds += 1;
            for path in ["swap.txt", "swap-dir/inside.txt"] {
                let answer = ask(&mut server, &stage.tree, "read_text_file", path);
                assert!(answer.is_refusal() || answer.text() == Some("inside\n"), "{path}: {answer:?}");
            }
        }
    };
    racing(&[&|| stage.swap_file(), &|| stage.swap_directory()], read_often);
}

/// modelcontextprotocol/servers #3457: users could not see why a link was refused.
#[cfg(unix)]
#[test]
fn e8_the_error_for_a_link_outside_does_not_say_where_it_leads() {
    let tree = Tree::new().link("notes", "{outside}/private/diary.txt");
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        let words = ask(&mut server, &tree, operation, &asked(&tree, operation, "notes")).words();
        assert!(words.contains("leads outside the served directory"), "{operation}: {words}");
        assert!(!words.contains("private") && !words.contains("diary"), "{operation} names the target: {words}");
    }
    assert_eq!(server.tool_text("list_directory", json!({})), "[LINK] notes");
}

/// modelcontextprotocol/servers #1987 #3756 #4129: a root under another spelling. The drives are specific to Windows;
/// that a root is its handle and not its text holds everywhere.
#[cfg(unix)]
#[test]
fn e10_both_spellings_of_the_root_are_the_same_directory() {
    let tree = Tree::new().file("inside.txt", "inside\n");
    let alias = tree.outside().join("alias");
    std::os::unix::fs::symlink(tree.path(), &alias).expect("a link");
    let mut process = Process::spawn([&alias]).legacy(LATEST_LEGACY);
    for root in [tree.path(), &alias] {
        for path in [format!("{}/inside.txt", root.display()), format!("file://{}/inside.txt", root.display())] {
            assert_eq!(process.tool_text("read_text_file", json!({"path": path})), "inside\n", "{path}");
        }
    }
    // The path leads elsewhere now; the handle does not.
    std::fs::create_dir(tree.outside().join("elsewhere")).expect("a directory");
    std::fs::write(tree.outside().join("elsewhere/inside.txt"), SECRET_MARKER).expect("a file");
    std::fs::remove_file(&alias).expect("removed");
    std::os::unix::fs::symlink(tree.outside().join("elsewhere"), &alias).expect("a link");
    let path = format!("{}/inside.txt", alias.display());
    assert_eq!(process.tool_text("read_text_file", json!({"path": path})), "inside\n");
}

/// The same reports: on Unix, what looks like a Windows path is an ordinary name.
#[cfg(unix)]
#[test]
fn e10_windows_paths_are_names_on_unix() {
    let names = ["C:\\x.txt", "\\\\server\\share", "g:a.txt", "a\\..\\b"];
    let tree = names.iter().fold(Tree::new(), |tree, name| tree.file(name, "named\n"));
    let mut server = TestServer::start(&tree);
    for name in names {
        assert_eq!(server.tool_text("read_text_file", json!({"path": name})), "named\n", "{name}");
        assert_eq!(server.result(READ_RESOURCE, json!({"uri": tree.uri(name)}))["contents"][0]["text"], "named\n");
    }
    for missing in ["D:\\x.txt", "c:\\x.txt", "C:/x.txt", "\\\\server\\other", "..\\secret"] {
        let answer = ask(&mut server, &tree, "read_text_file", missing);
        assert!(answer.is_refusal() && answer.words().contains("not found"), "{missing}: {answer:?}");
    }
}

/// zealynx on path prefixes, mcp-security-standard FS-02: traversal by percent-encoding in a URI.
#[test]
fn e11_encoded_traversal_is_refused_whether_or_not_the_target_exists() {
    let tree = Tree::new().file("inside.txt", "inside\n");
    let root = tree.uri("");
    let refused = [
        format!("{root}/%2e%2e/secret"),
        format!("{root}/%2E%2E%2fsecret"),
        format!("{root}/..%2Fsecret"),
        format!("{root}/inside.txt%2f"),
        format!("{root}/inside.txt%00"),
        root.replace("file://", "file://host") + "/inside.txt",
        "http://localhost/inside.txt".to_owned(),
    ];
    let ask_all = |server: &mut TestServer| {
        refused.clone().map(|uri| {
            let answer = ask(server, &tree, READ_RESOURCE, &uri);
            assert_eq!(answer.code(), Some(-32602), "{uri}: {answer:?}");
            answer
        })
    };
    let mut server = TestServer::start(&tree);
    let present = ask_all(&mut server);
    std::fs::remove_file(tree.outside().join("secret")).expect("removed");
    assert_eq!(ask_all(&mut server), present);
}

/// The same: decoded once, these are ordinary names that do not exist.
#[cfg(unix)]
#[test]
fn e11_a_doubly_encoded_path_is_an_ordinary_name() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for name in ["%252e%252e/secret", "..%5csecret", "..%5C..%5Csecret"] {
        let answer = ask(&mut server, &tree, READ_RESOURCE, &format!("{}/{name}", tree.uri("")));
        assert_eq!(answer.code(), Some(-32002), "{name}: {answer:?}");
    }
}
