//! Cursors: opaque, valid in any process that serves the same directory, and rejected if invalid.

use serde_json::{Value, json};

use super::{list_all, names};
use crate::support::{Client, LATEST_LEGACY, Process, TestServer, Tree};

const PAGE: usize = 3;

fn ten_files() -> Tree {
    let files = ["a", "b", "c c", "d/e", "d/f", "g/h%", "g/i\u{e9}", "g/j", "k/l/m", "k/l/n"];
    files.iter().fold(Tree::new(), |tree, path| tree.file(path, ""))
}

fn start(tree: &Tree) -> TestServer {
    TestServer::builder(tree).limits(|limits| limits.page = PAGE).start()
}

fn page(client: &mut impl Client, cursor: Option<&Value>) -> (Vec<String>, Option<Value>) {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    let result = client.result("resources/list", params);
    let resources = result["resources"].as_array().expect("resources");
    (names(resources).into_iter().map(str::to_owned).collect(), result.get("nextCursor").cloned())
}

#[test]
fn pages_are_full_and_the_last_one_has_no_cursor() {
    let tree = ten_files();
    let mut server = start(&tree);
    let (mut sizes, mut cursor) = (Vec::new(), None);
    loop {
        let (names, next) = page(&mut server, cursor.as_ref());
        sizes.push(names.len());
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(sizes, [3, 3, 3, 1]);
    let exact = TestServer::builder(&tree).limits(|limits| limits.page = 5).start();
    let (mut exact, mut pages, mut cursor) = (exact, 0, None);
    while pages == 0 || cursor.is_some() {
        (_, cursor) = page(&mut exact, cursor.as_ref());
        pages += 1;
    }
    assert_eq!(pages, 2, "no empty last page");
}

#[test]
fn the_same_cursor_gives_the_same_page_again() {
    let tree = ten_files();
    let mut server = start(&tree);
    let (_, cursor) = page(&mut server, None);
    assert_eq!(page(&mut server, cursor.as_ref()), page(&mut server, cursor.as_ref()));
}

#[test]
fn a_cursor_works_in_another_server() {
    let tree = ten_files();
    let all = list_all(&mut start(&tree));
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let (names, next) = page(&mut start(&tree), cursor.as_ref());
        found.extend(names);
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, names(&all));
}

#[test]
fn a_cursor_works_in_both_eras_and_across_them() {
    let tree = ten_files();
    let (_, cursor) = page(&mut start(&tree), None);
    let mut legacy = start(&tree).legacy(LATEST_LEGACY);
    let (from_modern, next) = page(&mut legacy, cursor.as_ref());
    assert_eq!(from_modern, ["d/e", "d/f", "g/h%"]);
    assert_eq!(page(&mut start(&tree), next.as_ref()).0, ["g/i\u{e9}", "g/j", "k/l/m"]);
}

/// More lists are started meanwhile than are kept.
#[test]
fn a_cursor_works_after_its_snapshot_is_gone() {
    let tree = ten_files();
    let mut server = start(&tree);
    let (_, cursor) = page(&mut server, None);
    for _ in 0..20 {
        page(&mut server, None);
    }
    assert_eq!(page(&mut server, cursor.as_ref()).0, ["d/e", "d/f", "g/h%"]);
}

#[test]
fn files_that_appear_or_disappear_between_pages_do_not_affect_others() {
    let tree = ten_files();
    // In one process from the snapshot, in another by a new walk.
    for same_process in [true, false] {
        let mut server = start(&tree);
        let (first, cursor) = page(&mut server, None);
        std::fs::remove_file(tree.join("c c")).unwrap();
        std::fs::write(tree.join("aa"), "").unwrap();
        let mut other = start(&tree);
        let mut rest = Vec::new();
        let mut cursor = cursor;
        while let Some(at) = cursor {
            let (names, next) = page(if same_process { &mut server } else { &mut other }, Some(&at));
            rest.extend(names);
            cursor = next;
        }
        assert_eq!(first, ["a", "b", "c c"]);
        assert_eq!(rest, ["d/e", "d/f", "g/h%", "g/i\u{e9}", "g/j", "k/l/m", "k/l/n"], "same process: {same_process}");
        std::fs::remove_file(tree.join("aa")).unwrap();
        std::fs::write(tree.join("c c"), "").unwrap();
    }
}

#[test]
fn an_invalid_cursor_is_rejected() {
    let tree = ten_files();
    let mut server = start(&tree);
    let (_, cursor) = page(&mut server, None);
    let good = cursor.as_ref().and_then(Value::as_str).expect("a cursor").to_owned();
    let cut = good[..good.len() / 2].to_owned();
    for bad in [
        json!(""),
        json!("garbage"),
        json!("0"),
        json!(cut),
        json!(good.clone() + "/../../x"),
        json!(good.to_uppercase() + "!"),
        json!(" ".to_owned() + &good),
        json!("eyJvZmZzZXQiOjEwfQ=="),
        json!("\u{0}"),
        json!("x".repeat(100_000)),
        json!(5),
        json!(true),
        json!([good]),
        json!({"cursor": good}),
    ] {
        let error = server.error("resources/list", json!({"cursor": bad}));
        assert_eq!(error["code"], -32602, "{bad}");
    }
    assert_eq!(page(&mut server, cursor.as_ref()).0, ["d/e", "d/f", "g/h%"], "and the good one still works");
}

#[test]
fn the_page_size_is_an_option() {
    let tree = ten_files();
    let mut process = Process::spawn(["--page-size".as_ref(), "4".as_ref(), tree.path().as_os_str()]);
    let (names, next) = page(&mut process, None);
    assert_eq!((names.len(), next.is_some()), (4, true));
}
