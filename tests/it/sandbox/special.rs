//! FIFOs, sockets and devices: refused by every operation at once, shown as what they are, and never opened. Opening a
//! FIFO waits for a writer, closing it breaks a writer's pipe, and a device may react to either.

use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use serde_json::json;

use super::{DIRECTORY_OPERATIONS, FILE_OPERATIONS, OPERATIONS, READ_RESOURCE, ask, asked, request, skipped};
use crate::support::{Client, LATEST_LEGACY, TestServer, Tree};

/// The special files in the tree, and what an answer calls them.
const SPECIAL: [(&str, &str); 6] = [
    ("pipe", "a FIFO"),
    ("inner/pipe", "a FIFO"),
    ("to-pipe", "a FIFO"),
    ("to-inner/pipe", "a FIFO"),
    ("sock", "a socket"),
    ("zero", "a device"),
];

fn tree() -> (Tree, Vec<(&'static str, &'static str)>) {
    let tree = Tree::new()
        .file("plain.txt", "plain\n")
        .fifo("pipe")
        .fifo("inner/pipe")
        .link("to-pipe", "pipe")
        .link("to-inner", "{root}/inner")
        .socket("sock");
    // Reading /dev/zero never ends.
    let made = Command::new("mknod").arg(tree.join("zero")).args(["c", "1", "5"]).stderr(Stdio::null()).status();
    let has_device = made.is_ok_and(|status| status.success());
    if !has_device {
        skipped("devices", "only root makes them, with mknod");
    }
    (tree, SPECIAL.into_iter().filter(|(path, _)| has_device || *path != "zero").collect())
}

#[test]
fn special_files_are_not_read_and_the_error_names_their_kind() {
    let (tree, special) = tree();
    let mut server = TestServer::start(&tree);
    for operation in FILE_OPERATIONS {
        for (path, kind) in &special {
            let answer = ask(&mut server, &tree, operation, path);
            assert!(answer.is_refusal() && answer.words().contains(kind), "{operation} {path}: {answer:?}");
        }
    }
}

#[test]
fn special_files_are_not_directories() {
    let (tree, special) = tree();
    let mut server = TestServer::start(&tree);
    for operation in DIRECTORY_OPERATIONS {
        for (path, _) in &special {
            let answer = ask(&mut server, &tree, operation, path);
            assert!(
                answer.is_refusal() && answer.words().contains("not a directory"),
                "{operation} {path}: {answer:?}"
            );
        }
    }
}

#[test]
fn a_special_file_as_a_resource_has_the_code_that_clients_show() {
    let (tree, special) = tree();
    let mut modern = TestServer::start(&tree);
    let mut legacy = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for (path, _) in special {
        assert_eq!(ask(&mut modern, &tree, READ_RESOURCE, &tree.uri(path)).code(), Some(-32603), "{path}");
        assert_eq!(ask(&mut legacy, &tree, READ_RESOURCE, &tree.uri(path)).code(), Some(-32603), "{path}");
    }
}

#[test]
fn file_info_names_their_kind() {
    let (tree, special) = tree();
    let mut server = TestServer::start(&tree);
    for (path, kind) in special {
        let text = server.tool_text("get_file_info", json!({"path": path}));
        assert!(text.contains(kind) && text.contains("isFile: false"), "{path}: {text}");
    }
}

#[test]
fn listings_show_them_as_other_and_resources_do_not() {
    let (tree, special) = tree();
    let mut server = TestServer::start(&tree);
    let here: Vec<&str> =
        special.iter().map(|(path, _)| *path).filter(|path| ["pipe", "sock", "zero"].contains(path)).collect();
    for tool in ["list_directory", "list_directory_with_sizes"] {
        let text = server.tool_text(tool, json!({}));
        let others = text.lines().filter_map(|line| line.strip_prefix("[OTHER] "));
        assert_eq!(others.filter_map(|line| line.split_whitespace().next()).collect::<Vec<_>>(), here, "{text}");
    }
    let text = server.tool_text("directory_tree", json!({}));
    assert_eq!(text.matches("\"type\": \"other\"").count(), here.len() + 1, "{text}");
    let listed = server.result("resources/list", json!({}));
    assert_eq!(listed["resources"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn eight_concurrent_reads_of_a_fifo_delay_nothing() {
    let (tree, _) = tree();
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let mut asked = Vec::new();
    for operation in OPERATIONS {
        for _ in 0..8 {
            let (method, params) = request(operation, "pipe");
            asked.push(server.ask(method, params));
        }
    }
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    for id in asked {
        server.answer(id);
    }
    assert_eq!(server.tool_text("read_text_file", json!({"path": "plain.txt"})), "plain\n");
}

/// Runs everything that could touch the special files.
fn do_everything(tree: &Tree, special: &[(&str, &str)]) {
    let mut server = TestServer::start(tree).legacy(LATEST_LEGACY);
    for operation in OPERATIONS {
        for (path, _) in special {
            ask(&mut server, tree, operation, path);
        }
        ask(&mut server, tree, operation, &asked(tree, operation, ""));
    }
    server.result("resources/list", json!({}));
    server.tool("directory_tree", json!({"includeIgnored": true}));
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn data_in_a_fifo_is_not_consumed() {
    let (tree, special) = tree();
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = rustix::fs::open(tree.join("pipe"), flags, Mode::empty()).expect("both ends of the FIFO");
    rustix::io::write(&pipe, b"for somebody else").expect("room in the FIFO");
    do_everything(&tree, &special);
    let mut left = [0; 100];
    let read = rustix::io::read(&pipe, &mut left).expect("something in the FIFO");
    assert_eq!(&left[..read], b"for somebody else");
}

/// Opening alone would wake a writer that waits for a reader, and closing would give it EPIPE. The kernel reports every
/// open, so none can be missed.
#[cfg(target_os = "linux")]
#[test]
fn special_files_are_never_opened() {
    use rustix::fs::inotify;

    let (tree, special) = tree();
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).expect("inotify");
    let own = special.iter().map(|(path, _)| *path).filter(|path| !path.starts_with("to-"));
    for path in own.clone() {
        inotify::add_watch(&watch, tree.join(path), inotify::WatchFlags::OPEN).expect("a watch");
    }
    let opened = || rustix::io::read(&watch, &mut [0; 4096]);
    do_everything(&tree, &special);
    assert_eq!(opened(), Err(rustix::io::Errno::AGAIN), "something opened a FIFO, a socket or a device");
    // The watch would report this one.
    rustix::fs::open(tree.join("pipe"), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).expect("the FIFO");
    assert!(opened().is_ok_and(|bytes| bytes > 0));
}
