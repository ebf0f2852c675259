//! The forms of `path`. All tools parse it in the same way; `read_text_file` represents them.

use serde_json::json;

use crate::support::{Client, TestServer, Tree};

#[test]
fn every_spelling_of_a_path_inside_is_accepted() {
    let tree = Tree::new().file("a.txt", "top\n").file("sub/b c.txt", "below\n");
    let mut server = TestServer::start(&tree);
    let absolute = |path: &str| tree.join(path).to_str().unwrap().to_owned();
    for (path, want) in [
        ("a.txt".to_owned(), "top\n"),
        ("./a.txt".to_owned(), "top\n"),
        (".//./a.txt".to_owned(), "top\n"),
        ("sub/b c.txt".to_owned(), "below\n"),
        ("sub//b c.txt".to_owned(), "below\n"),
        ("sub/./b c.txt".to_owned(), "below\n"),
        ("sub/../a.txt".to_owned(), "top\n"),
        ("sub/../sub/../a.txt".to_owned(), "top\n"),
        (absolute("a.txt"), "top\n"),
        (absolute("sub/../a.txt"), "top\n"),
        (absolute("sub/b c.txt"), "below\n"),
        (tree.uri("a.txt"), "top\n"),
        (tree.uri("sub/b c.txt"), "below\n"),
        (tree.uri("a.txt").replace("file://", "file://localhost"), "top\n"),
        (tree.uri("a.txt").replace("file://", "FILE://"), "top\n"),
        (tree.uri("sub/b c.txt").replace("%20", " "), "below\n"),
        (tree.uri("a.txt").replace("a.txt", "%61.txt"), "top\n"),
    ] {
        assert_eq!(server.tool_text("read_text_file", json!({"path": path})), want, "{path}");
    }
}

#[test]
fn the_empty_path_and_the_dot_are_the_served_directory() {
    let tree = Tree::new().file("a.txt", "");
    let mut server = TestServer::start(&tree);
    let itself = tree.path().to_str().unwrap().to_owned();
    for path in ["", ".", "./", "././", &itself, &(itself.clone() + "/"), &tree.uri(""), &(tree.uri("") + "/")] {
        assert_eq!(server.tool_text("list_directory", json!({"path": path})), "[FILE] a.txt", "{path:?}");
        assert!(server.tool_text("get_file_info", json!({"path": path})).contains("isDirectory: true"), "{path:?}");
    }
}

#[test]
fn a_final_slash_names_a_directory_and_never_a_file() {
    let tree = Tree::new().file("d/a.txt", "x");
    let mut server = TestServer::start(&tree);
    assert_eq!(server.tool_text("list_directory", json!({"path": "d/"})), "[FILE] a.txt");
    for tool in ["read_text_file", "read_media_file", "get_file_info"] {
        for path in ["d/a.txt/".to_owned(), tree.uri("d/a.txt") + "/"] {
            let text = server.tool_error(tool, json!({"path": path}));
            assert!(text.contains("not found") || text.contains("not a directory"), "{tool} {path}: {text}");
        }
    }
}

/// `..` goes up from where a link leads, as in the kernel; by text it would be another file.
#[cfg(unix)]
#[test]
fn parent_references_are_resolved_after_links() {
    let tree = Tree::new().file("x/y/z.txt", "").file("x/a.txt", "beside y\n").file("a.txt", "top\n").link("l", "x/y");
    let mut server = TestServer::start(&tree);
    assert_eq!(server.tool_text("read_text_file", json!({"path": "l/../a.txt"})), "beside y\n");
    assert_eq!(server.tool_text("read_text_file", json!({"path": "l/../../a.txt"})), "top\n");
    let text = server.tool_error("read_text_file", json!({"path": "gone/../a.txt"}));
    assert!(text.contains("not found"), "{text}");
    let text = server.tool_error("read_text_file", json!({"path": "l/../../../root/a.txt"}));
    assert!(text.contains("leads outside"), "{text}");
}

#[cfg(unix)]
#[test]
fn links_that_stay_inside_are_followed() {
    let tree = Tree::new().file("d/f.txt", "found\n").link("rel", "d/f.txt").link("abs", "{root}/d/f.txt");
    let tree = tree.link("dir", "./d").link("chain", "dir/../rel").link("d/up", "../rel");
    let mut server = TestServer::start(&tree);
    for path in ["rel", "abs", "dir/f.txt", "chain", "d/up", "dir/up"] {
        assert_eq!(server.tool_text("read_text_file", json!({"path": path})), "found\n", "{path}");
    }
}

/// DIR is both the path typed on the command line and the one without links.
#[cfg(unix)]
#[test]
fn both_spellings_of_a_root_behind_a_link_work() {
    use crate::support::{Process, file_uri};

    let tree = Tree::new().file("a b.txt", "found\n");
    let typed = tree.outside().join("typed");
    std::os::unix::fs::symlink(tree.path(), &typed).unwrap();
    let mut process = Process::spawn([&typed]);
    for path in [tree.join("a b.txt"), typed.join("a b.txt")] {
        let text = process.tool_text("read_text_file", json!({"path": path.to_str().unwrap()}));
        assert_eq!(text, "found\n", "{}", path.display());
        let text = process.tool_text("read_text_file", json!({"path": file_uri(&path)}));
        assert_eq!(text, "found\n", "{}", file_uri(&path));
    }
    let text = process.tool_error("read_text_file", json!({"path": typed.with_file_name("secret").to_str().unwrap()}));
    assert!(text.contains("leads outside"), "{text}");
}

#[test]
fn a_name_that_begins_like_the_root_is_not_in_it() {
    let tree = Tree::new();
    let sibling = tree.path().with_file_name("root-2");
    std::fs::create_dir(&sibling).unwrap();
    std::fs::write(sibling.join("a.txt"), "other\n").unwrap();
    let path = sibling.join("a.txt").to_str().unwrap().to_owned();
    let text = TestServer::start(&tree).tool_error("read_text_file", json!({"path": path}));
    assert!(text.contains("leads outside"), "{text}");
}

#[test]
fn a_path_with_a_nul_is_refused() {
    let tree = Tree::new();
    let text = TestServer::start(&tree).tool_error("read_text_file", json!({"path": "a\0b"}));
    assert!(text.contains("NUL") && !text.contains('\0'), "{text:?}");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_too_long_is_reported_as_such() {
    let tree = Tree::new();
    let text = TestServer::start(&tree).tool_error("read_text_file", json!({"path": "n".repeat(300)}));
    assert!(text.contains("too long"), "{text}");
}

// macOS and Windows normalise or compare names themselves.
#[cfg(target_os = "linux")]
mod unicode {
    use super::*;

    #[test]
    fn a_name_in_another_unicode_form_is_found() {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
        for (on_disk, asked) in [(composed, decomposed), (decomposed, composed)] {
            let tree = Tree::new().file(format!("{on_disk}/{on_disk}.txt"), "found\n");
            let mut server = TestServer::start(&tree);
            for path in [
                format!("{asked}/{asked}.txt"),
                format!("{on_disk}/{asked}.txt"),
                tree.uri(format!("{asked}/{asked}.txt")),
            ] {
                assert_eq!(server.tool_text("read_text_file", json!({"path": path})), "found\n", "{path}");
            }
            assert!(server.tool_text("list_directory", json!({"path": asked})).contains(on_disk));
        }
    }

    #[test]
    fn the_exact_name_wins_over_an_equivalent_one() {
        let tree = Tree::new().file("\u{e9}", "composed\n").file("e\u{301}", "decomposed\n");
        let mut server = TestServer::start(&tree);
        assert_eq!(server.tool_text("read_text_file", json!({"path": "\u{e9}"})), "composed\n");
        assert_eq!(server.tool_text("read_text_file", json!({"path": "e\u{301}"})), "decomposed\n");
    }

    #[test]
    fn several_equivalent_names_are_an_error() {
        let tree = Tree::new().file("\u{1e69}", "1").file("s\u{323}\u{307}", "2");
        let text = TestServer::start(&tree).tool_error("read_text_file", json!({"path": "\u{1e63}\u{307}"}));
        assert!(text.contains("Unicode"), "{text}");
    }

    #[test]
    fn other_letters_are_other_names() {
        let tree = Tree::new().file("e.txt", "").file("\u{c9}.txt", "");
        let text = TestServer::start(&tree).tool_error("read_text_file", json!({"path": "\u{e9}.txt"}));
        assert!(text.contains("not found"), "{text}");
    }
}
