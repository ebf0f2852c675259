//! `resources/list`: every regular file once, shallow first, with its facts.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use walkdir::WalkDir;

use super::{bytes_of, list_all, names, read};
use crate::support::{Client, TestServer, Tree};

/// A tree with files at every level, and much that must not be listed.
fn project() -> Tree {
    let tree = Tree::new().file(".gitignore", "*.log\n!keep.log\n/build\nnode_modules/\n").file("README.md", "# r\n");
    let tree = tree.file("z.txt", "").file("a.log", "").file("keep.log", "").file("build/out.o", "").file("B/x", "");
    let tree =
        tree.file("src/main.rs", "").file("src/build/kept.rs", "").file("src/a/deep.rs", "").file("src/x.log", "");
    let tree = tree.file("src/.gitignore", "local.txt\n").file("src/local.txt", "").file("src/a/local.txt", "");
    let tree = tree.file("node_modules/m/i.js", "").file("src/node_modules/n.js", "").file("a!/y", "").file("a/y", "");
    let tree =
        tree.file(".git/HEAD", "").file("sub/.git", "gitdir: ../x").file("sub/.config/c.toml", "").file("sub/f", "");
    tree.file(".env", "KEY=1").file("src/.ssh/id", "").file("local.txt", "").file("a b/c#d.txt", "")
}

/// The expected list: found by another walker, with the rules written by hand.
fn oracle(tree: &Tree) -> Vec<String> {
    let hidden = |path: &str| {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_log = name.rsplit('.').next() == Some("log") && name != "keep.log";
        let is_local = name == "local.txt" && (parent == "src" || parent.starts_with("src/"));
        is_log || is_local || path == "build" || ["node_modules", ".git", ".env", ".ssh"].contains(&name)
    };
    let relative = |entry: &walkdir::DirEntry| {
        let path = entry.path().strip_prefix(tree.path()).expect("below the root");
        path.to_str().expect("text").replace('\\', "/")
    };
    let walk = WalkDir::new(tree.path()).into_iter().filter_entry(|entry| !hidden(&relative(entry)));
    let files = walk.map(|entry| entry.expect("readable")).filter(|entry| entry.file_type().is_file());
    let mut found: Vec<String> = files.map(|entry| relative(&entry)).collect();
    found.sort_by_cached_key(|path| {
        let components: Vec<_> = path.split('/').map(|name| name.as_bytes().to_vec()).collect();
        (components.len(), components)
    });
    found
}

#[test]
fn the_list_equals_that_of_another_walker_shallow_first() {
    let tree = project();
    let want = oracle(&tree);
    assert_eq!(want.len(), 15, "the oracle hides too much or too little: {want:?}");
    let resources = list_all(&mut TestServer::start(&tree));
    assert_eq!(names(&resources), want);
}

#[test]
fn pages_of_any_size_give_the_same_list() {
    let tree = project();
    let want = oracle(&tree);
    for page in 1..=want.len() + 1 {
        let mut server = TestServer::builder(&tree).limits(|limits| limits.page = page).start();
        assert_eq!(names(&list_all(&mut server)), want, "pages of {page}");
    }
}

#[cfg(unix)]
#[test]
fn the_name_of_the_served_directory_is_encoded_like_any_other() {
    let tree = Tree::new().file("a.txt", "one\n").renamed("a [b] {c} |d^e% #f?");
    let mut server = TestServer::start(&tree);
    let resources = server.result("resources/list", json!({}))["resources"].take();
    assert_eq!(resources[0]["uri"], tree.uri("a.txt"));
    assert_eq!(bytes_of(&read(&mut server, &tree.uri("a.txt"))), b"one\n");
    let templates = server.result("resources/templates/list", json!({}))["resourceTemplates"].take();
    assert_eq!(templates[0]["uriTemplate"], format!("{}/{{+path}}{{?offset,limit,column}}", tree.uri("")));
}

#[test]
fn every_listed_uri_reads_back_the_bytes_of_its_file() {
    let tree = project().file("blob.bin", b"\0\x01\xff").file("crlf.txt", "a\r\nb\r\n").file("latin.txt", b"caf\xe9\n");
    let mut server = TestServer::start(&tree);
    let resources = list_all(&mut server);
    for resource in &resources {
        let (name, uri) = (resource["name"].as_str().unwrap(), resource["uri"].as_str().unwrap());
        let content = std::fs::read(tree.join(name)).unwrap();
        assert_eq!(uri, tree.uri(name));
        assert_eq!(resource["size"], content.len(), "{name}");
        assert_eq!(bytes_of(&read(&mut server, uri)), content, "{name}");
    }
    let uris: BTreeSet<_> = resources.iter().map(|resource| resource["uri"].as_str()).collect();
    assert_eq!(uris.len(), resources.len(), "every URI once");
}

#[test]
fn each_file_has_its_media_type_size_and_time() {
    let tree = Tree::new().file("notes.md", "hello\n");
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_401);
    std::fs::File::options().write(true).open(tree.join("notes.md")).unwrap().set_modified(at).unwrap();
    let want = json!([{
        "uri": tree.uri("notes.md"),
        "name": "notes.md",
        "mimeType": "text/markdown",
        "size": 6,
        "annotations": {"lastModified": "2000-02-29T00:00:01Z"},
    }]);
    assert_eq!(Value::Array(list_all(&mut TestServer::start(&tree))), want);
}

/// A client's date parser must not encounter the year 11476.
#[cfg(target_os = "linux")]
#[test]
fn a_time_beyond_the_calendar_is_left_out() {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

    use crate::support::Process;

    let mut was_tried = false;
    // ext4 cannot store such a time, tmpfs can.
    for place in [std::env::temp_dir(), "/dev/shm".into()] {
        let Ok(directory) = tempfile::tempdir_in(&place) else { continue };
        let file = directory.path().join("far.txt");
        std::fs::write(&file, "").unwrap();
        for (seconds, is_given) in [(253_402_300_799, true), (253_402_300_800, false), (300_000_000_000, false)] {
            let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
            let times = Timestamps { last_access: time, last_modification: time };
            utimensat(CWD, &file, &times, AtFlags::empty()).unwrap();
            let kept = std::fs::metadata(&file).unwrap().modified().unwrap();
            if kept != SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs()) {
                continue;
            }
            was_tried = true;
            let resources = list_all(&mut Process::spawn([directory.path()]));
            assert_eq!(names(&resources), ["far.txt"], "the file itself is still listed");
            let given = resources[0]["annotations"].get("lastModified").is_some();
            assert_eq!(given, is_given, "{seconds}: {}", resources[0]);
        }
    }
    if !was_tried {
        crate::sandbox::skipped("times beyond the calendar", "no file system here keeps them");
    }
}

#[test]
fn an_empty_directory_is_an_empty_list() {
    let tree = Tree::new().dir("only/directories");
    let page = TestServer::start(&tree).result("resources/list", json!({}));
    assert_eq!(page["resources"], json!([]));
    assert_eq!(page.get("nextCursor"), None);
}

#[test]
fn a_request_without_cursor_sees_the_disk_as_it_is_now() {
    let tree = Tree::new().file("a", "");
    let mut server = TestServer::start(&tree);
    assert_eq!(names(&list_all(&mut server)), ["a"]);
    std::fs::write(tree.join("b"), "").unwrap();
    std::fs::remove_file(tree.join("a")).unwrap();
    assert_eq!(names(&list_all(&mut server)), ["b"]);
}

#[test]
fn the_template_leads_to_any_file_below_the_root() {
    let tree = Tree::new().file("d/a.txt", "one\ntwo\n");
    let mut server = TestServer::start(&tree);
    let list = server.result("resources/templates/list", json!({}));
    let templates = list["resourceTemplates"].as_array().expect("templates");
    assert_eq!(templates.len(), 1, "{list}");
    let template = templates[0]["uriTemplate"].as_str().expect("a template");
    assert_eq!(template, format!("{}/{{+path}}{{?offset,limit,column}}", tree.uri("")));
    assert!(templates[0]["name"].is_string() && templates[0].get("size").is_none(), "{list}");
    let uri = template.replace("{+path}", "d/a.txt").replace("{?offset,limit,column}", "?offset=2&limit=1&column=2");
    assert_eq!(read(&mut server, &uri)["text"], "wo\n");
    assert_eq!(server.error("resources/templates/list", json!({"cursor": "x"}))["code"], -32602);
}
