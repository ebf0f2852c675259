//! `resources/read`: one content, under the requested URI; text if the file is text, else a blob.

use serde_json::{Value, json};

use super::{bytes_of, read};
use crate::support::{Client, TestServer, Tree};

fn item(name: &str, content: &[u8]) -> Value {
    let tree = Tree::new().file(name, content);
    read(&mut TestServer::start(&tree), &tree.uri(name))
}

#[test]
fn the_content_decides_between_text_and_blob() {
    for (name, content, is_text, mime_type) in [
        ("a.md", &b"# hi\r\n"[..], true, "text/markdown"),
        ("a.bin", b"plain", true, "text/plain"),
        ("empty.rs", b"", true, "text/x-rust"),
        ("bom.txt", b"\xEF\xBB\xBFx\n", true, "text/plain"),
        ("pic.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", false, "image/png"),
        ("zero.txt", b"a\0b", false, "application/octet-stream"),
        ("wide.txt", b"\xFF\xFEh\0i\0", false, "text/plain; charset=utf-16le"),
        ("wide.txt", b"\xFE\xFF\0h\0i", false, "text/plain; charset=utf-16be"),
    ] {
        let item = item(name, content);
        assert_eq!(item.get("text").is_some(), is_text, "{name} {content:?}");
        assert_eq!(bytes_of(&item), content, "{name}");
        assert_eq!(item["mimeType"], mime_type, "{name} {content:?}");
        assert_eq!(item.get("_meta"), None, "{name}");
    }
}

/// The encoding cannot be known for certain, and a wrong charset is worse than none.
#[test]
fn a_guessed_encoding_is_a_blob_without_charset() {
    let item = item("old.txt", b"caf\xe9 na\xefve, d\xe9j\xe0 vu\n");
    assert_eq!(bytes_of(&item), b"caf\xe9 na\xefve, d\xe9j\xe0 vu\n");
    assert!(item["mimeType"].as_str().is_some_and(|mime_type| !mime_type.contains("charset")), "{item}");
}

#[test]
fn the_uri_is_echoed_as_it_was_written() {
    let tree = Tree::new().file("a b.txt", "x");
    let mut server = TestServer::start(&tree);
    let uri = tree.uri("a b.txt");
    for spelled in [
        uri.clone(),
        uri.replace("file://", "file://localhost"),
        uri.replace("a%20b", "./a%20b"),
        uri.replace("a%20b", "%61%20b"),
        uri.clone() + "?limit=1",
    ] {
        assert_eq!(read(&mut server, &spelled)["text"], "x", "{spelled}");
    }
}

/// Some clients send spaces, raw UTF-8, or a relative reference. Such text is not a URI, and clients that validate
/// answers would reject it there.
#[test]
fn an_invalid_uri_is_answered_under_a_valid_one() {
    let tree = Tree::new().file("a \u{e9}.txt", "x");
    let uri = tree.uri("a \u{e9}.txt");
    for (spelled, want) in [
        (uri.replace("%20", " "), uri.clone()),
        (uri.replace("%C3%A9", "\u{e9}"), uri.clone()),
        ("a \u{e9}.txt".to_owned(), uri.clone()),
        ("./a%20%C3%A9.txt".to_owned(), uri.clone()),
        ("a%20%C3%A9.txt?offset=1".to_owned(), uri.clone() + "?offset=1"),
    ] {
        let result = TestServer::start(&tree).result("resources/read", json!({"uri": spelled}));
        assert_eq!(result["contents"][0]["text"], "x", "{spelled}");
        assert_eq!(result["contents"][0]["uri"], want, "{spelled}");
    }
}

#[cfg(unix)]
#[test]
fn a_directory_is_one_content_with_a_line_per_entry() {
    let tree = Tree::new().file("d/a.txt", "").dir("d/sub").link("d/l", "a.txt").fifo("d/p").file("d/.env", "");
    let mut server = TestServer::start(&tree);
    for uri in [tree.uri("d"), tree.uri("d") + "/"] {
        let item = read(&mut server, &uri);
        assert_eq!(item["mimeType"], "inode/directory");
        assert_eq!(item["text"], "[FILE] a.txt\n[LINK] l\n[OTHER] p\n[DIR] sub");
    }
    let root = read(&mut server, &tree.uri(""));
    assert_eq!((&root["mimeType"], &root["text"]), (&json!("inode/directory"), &json!("[DIR] d")));
}

#[test]
fn a_directory_longer_than_an_answer_says_what_is_missing() {
    let tree = (0..200).fold(Tree::new(), |tree, number| tree.file(format!("file-{number:03}"), ""));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.resource_bytes = 1_000).start();
    let text = read(&mut server, &tree.uri(""))["text"].as_str().unwrap().to_owned();
    let shown = text.lines().filter(|line| line.starts_with("[FILE] ")).count();
    assert!(shown < 200 && text.len() < 1_200, "{} bytes", text.len());
    let last = text.lines().last().unwrap();
    assert!(last.contains(&format!("{shown} of 200 entries")) && last.contains("list_directory"), "{last}");
}

#[cfg(unix)]
#[test]
fn a_link_inside_is_followed() {
    let tree = Tree::new().file("d/f.txt", "found\n").link("l", "d/f.txt").link("dir", "{root}/d");
    let mut server = TestServer::start(&tree);
    for path in ["l", "dir/f.txt"] {
        assert_eq!(read(&mut server, &tree.uri(path))["text"], "found\n", "{path}");
    }
}

/// What looks like a range may be a name.
#[cfg(unix)]
#[test]
fn a_fragment_or_unknown_query_is_part_of_the_name() {
    let tree =
        Tree::new().file("what?", "1").file("a?x=1", "2").file("a#b", "3").file("a?offset=1&x=2", "4").file("a", "no");
    let mut server = TestServer::start(&tree);
    for (path, want) in [("what?", "1"), ("a?x=1", "2"), ("a#b", "3"), ("a?offset=1&x=2", "4")] {
        let raw = format!("{}/{path}", tree.uri(""));
        assert_eq!(read(&mut server, &raw)["text"], want, "{raw}");
        assert_eq!(read(&mut server, &tree.uri(path))["text"], want, "{}", tree.uri(path));
    }
}
