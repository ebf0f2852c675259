//! `completion/complete`: the completions of a path, their order, and what is not a completion.

use serde_json::{Value, json};

use super::{bytes_of, read};
use crate::support::{Client, TestServer, Tree};

// Which requests are valid, in which revision, and how many at once.
mod request;

fn template(tree: &Tree) -> String {
    tree.uri("") + "/{+path}{?offset,limit,column}"
}

/// The parameters of a completion of `value`.
pub(crate) fn asking(tree: &Tree, value: &str) -> Value {
    let reference = json!({"type": "ref/resource", "uri": template(tree)});
    json!({"ref": reference, "argument": {"name": "path", "value": value}})
}

fn complete(client: &mut impl Client, tree: &Tree, value: &str) -> Value {
    client.result("completion/complete", asking(tree, value))["completion"].take()
}

fn values(completion: &Value) -> Vec<&str> {
    completion["values"].as_array().expect("values").iter().map(|value| value.as_str().expect("a string")).collect()
}

/// Fails unless each of `cases`, a typed text and its completions, is correct.
fn completes<'c>(tree: &Tree, cases: impl IntoIterator<Item = (&'c str, &'c [&'c str])>) {
    let mut server = TestServer::start(tree);
    for (typed, want) in cases {
        let completion = complete(&mut server, tree, typed);
        assert_eq!(values(&completion), want, "{typed:?}");
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(want.len()), &json!(false)), "{typed:?}");
    }
}

#[cfg(unix)] // Windows does not have these names side by side
#[test]
fn matches_are_ordered_by_exact_case_any_case_and_substring() {
    let names = ["makefile", "Makefile", "MAKE.md", "Maker/x", "make/x", "remake.c", "a-Make", "other"];
    let tree = names.iter().fold(Tree::new(), |tree, name| tree.file(name, ""));
    completes(
        &tree,
        [
            ("make", &["make/", "makefile", "MAKE.md", "Makefile", "Maker/", "a-Make", "remake.c"][..]),
            ("Make", &["Makefile", "Maker/", "MAKE.md", "make/", "makefile", "a-Make", "remake.c"]),
            ("MAKE", &["MAKE.md", "Makefile", "Maker/", "make/", "makefile", "a-Make", "remake.c"]),
            ("makefile", &["makefile", "Makefile"]),
            ("THE", &["other"]),
            ("x", &[]),
            ("", &["MAKE.md", "Makefile", "Maker/", "a-Make", "make/", "makefile", "other", "remake.c"]),
        ],
    );
}

#[test]
fn a_file_is_reached_level_by_level() {
    let tree = Tree::new().file("src/era/mod.rs", "mod\n").file("src/main.rs", "").file("srv", "");
    let mut server = TestServer::start(&tree);
    let mut typed = String::new();
    for more in ["sr", "e", "m"] {
        typed.push_str(more);
        typed = values(&complete(&mut server, &tree, &typed))[0].to_owned();
    }
    assert_eq!(typed, "src/era/mod.rs");
    assert_eq!(read(&mut server, &(tree.uri("") + "/" + &typed))["text"], "mod\n");
}

#[cfg(unix)] // Windows has no such names
#[test]
fn the_directory_may_be_written_in_any_way() {
    let tree = Tree::new().file("d/e/file", "").file("a b/file", "").file("w?x/#y/file", "").file("file:/z", "");
    let root = tree.path().to_str().unwrap();
    completes(
        &tree,
        [
            ("d/e/f", &["d/e/file"][..]),
            ("./d/e/f", &["./d/e/file"]),
            ("d//e/./f", &["d//e/./file"]),
            ("d/e/../e/f", &["d/e/../e/file"]),
            ("d/../a b/", &["d/../a b/file"]),
            ("a%20b/F", &["a%20b/file"]),
            ("%64/%65/%66", &["%64/%65/file"]),
            ("w?x/#y/", &["w%3Fx/%23y/file"]),
            ("w%3Fx/%23y/", &["w%3Fx/%23y/file"]),
            ("file:/", &["file:/z"]),
            ("file://", &[]),
            // An absolute path is meaningless after the beginning of the template.
            (&format!("{root}/d/e/f"), &["d/e/file"]),
            (&format!("{root}/D"), &["d/"]),
            (&format!("{root}/w%3Fx/"), &["w%3Fx/%23y/"]),
            (&tree.uri("a b/f"), &["a b/file"]),
            (&tree.uri("d/e/").replace("file://", "FILE://localhost"), &["d/e/file"]),
        ],
    );
}

#[test]
fn unlistable_directories_have_no_completions() {
    let tree = Tree::new().file("file", "x").file(".ssh/id", "").file("d/.env", "").file("d/.env.example", "");
    let root = tree.path().to_str().unwrap();
    let megabyte = "a".repeat(1 << 20);
    let nothing = ["missing/", "file/", "file/x", "../", "../sec", "../root/f", "d/../../sec", "/", "/etc/", "/etc/p"];
    let nothing = nothing.into_iter().chain(["..", "%2e%2e/", "%2e%2e%2f", "a%00", "a\0", "\0/", "~/", "http://x/"]);
    let nothing = nothing.chain(["file:///", "file:///etc/", "file://elsewhere/", ".ssh/", ".SSH/i", ".ssh", ".ss"]);
    completes(&tree, nothing.map(|typed| (typed, &[][..])));
    completes(&tree, [("d/", &["d/.env.example"][..]), ("d/.e", &["d/.env.example"]), ("", &["d/", "file"])]);
    let sibling = format!("{root}-evil/");
    let long = ["../", "./", "/", "d/../", ".a/", "é/"].map(|part| part.repeat((1 << 20) / part.len()));
    completes(&tree, [&sibling, &megabyte].into_iter().chain(&long).map(|typed| (typed.as_str(), &[][..])));
}

#[test]
fn at_most_the_best_hundred_completions_are_returned() {
    let tree = (0..1_000).fold(Tree::new(), |tree, number| tree.file(format!("d/file-{number:04}"), ""));
    let tree = tree.file("d/FILE", "");
    let mut server = TestServer::start(&tree);
    for (typed, first, total, more) in [
        ("d/", "d/FILE", 1_001, true),
        ("d/file-", "d/file-0000", 1_000, true),
        ("d/fi", "d/file-0000", 1_001, true),
        ("d/file-09", "d/file-0900", 100, false),
        ("d/9", "d/file-0009", 271, true),
        ("d/99", "d/file-0099", 19, false),
    ] {
        let completion = complete(&mut server, &tree, typed);
        let values = values(&completion);
        assert_eq!((values[0], values.len()), (first, total.min(100)), "{typed}");
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(total), &json!(more)), "{typed}");
    }
    assert_eq!(values(&complete(&mut server, &tree, "d/f")).last(), Some(&"d/file-0099"));
}

#[test]
fn dot_files_come_last_and_version_control_only_if_started() {
    let tree = Tree::new().file(".gitignore", "ignored\n").file(".git/HEAD", "").file("ignored", "").file("z", "");
    let tree = tree.file(".github/x", "").file("CVS/Root", "").file("legit", "");
    completes(
        &tree,
        [
            ("", &["ignored", "legit", "z", ".github/", ".gitignore"][..]),
            (".", &[".git/", ".github/", ".gitignore"]),
            (".GIT", &[".github/", ".gitignore"]),
            ("git", &[".github/", ".gitignore", "legit"]),
            (".git/", &[".git/HEAD"]),
            ("C", &["CVS/"]),
        ],
    );
}

#[cfg(unix)]
#[test]
fn links_are_offered_as_their_targets_inside() {
    let tree = Tree::new().file("d/f", "").file(".env", "").link("l-dir", "d").link("l-file", "d/f");
    let tree =
        tree.link("l-absolute", "{root}/d").link("l-link", "l-dir").link("l-up", "d/..").link("l-root", "{root}");
    let tree = tree.link("l-out", "../secret").link("l-etc", "/etc").link("l-gone", "gone").link("l-loop", "l-loop");
    let tree = tree.link("l-denied", ".env").link("l-pipe", "pipe").fifo("pipe").socket("p-socket");
    completes(
        &tree,
        [
            ("l-", &["l-absolute/", "l-dir/", "l-file", "l-link/", "l-root/", "l-up/"][..]),
            ("l-link/", &["l-link/f"]),
            ("l-link/../d/", &["l-link/../d/f"]),
            ("l-up/d/", &["l-up/d/f"]),
            ("l-out/", &[]),
            ("l-etc/", &[]),
            ("p", &["l-up/"]),
        ],
    );
}

/// However many lead outside, the entries after them are found, within a limit.
#[cfg(unix)]
#[test]
fn links_outside_do_not_displace_files() {
    let out = |tree: Tree, count| (0..count).fold(tree, |tree, n| tree.link(format!("a{n:04}"), "../secret"));
    let tree = out(Tree::new().file("b", ""), 500);
    completes(&tree, [("", &["b"][..])]);
    let tree = out(Tree::new().file("b", ""), 1_500);
    let completion = complete(&mut TestServer::start(&tree), &tree, "");
    assert_eq!(completion, json!({"values": [], "total": 501, "hasMore": true}));
}

/// Completed letter by letter, whatever the name contains; then read after the template's beginning, both as it is and
/// expanded according to RFC 6570.
#[cfg(unix)]
#[test]
fn every_value_can_be_read() {
    let odd = ["a b", "#hash", "what?", "100%", "%20", "%2520", "a+b", "[x]{y}", "@at:c", "%2F", "a%00b", "\u{1f600}"];
    let odd = odd.into_iter().chain(["\"dq\"", "<a>|^`", "back\\slash", "?offset=1", "x?limit=1", "file:", "c:", "~"]);
    let odd = odd.chain(["new\nline", "\u{202e}turned", "e\u{301}", "\u{e9}t\u{e9}", " ", "\t", "...", "-"]);
    let odd: Vec<Vec<u8>> = odd.map(|name| name.as_bytes().to_vec()).chain([b"caf\xe9\xff.txt".to_vec()]).collect();
    let tree = odd.iter().fold(Tree::new(), |tree, name| {
        let path = [&name[..], name].join(&b'/');
        tree.file_bytes_name(&path, name)
    });
    let mut server = TestServer::start(&tree);
    let directories = complete(&mut server, &tree, "");
    assert_eq!(directories["total"], odd.len());
    let mut found = Vec::new();
    for directory in values(&directories) {
        let completion = complete(&mut server, &tree, directory);
        let [value] = values(&completion)[..] else { panic!("{directory}: {completion}") };
        assert!(!value.contains(['\n', '\t', '\u{202e}', '?', '#']), "{value}");
        let [raw, encoded] = [value, &expanded(value)].map(|path| {
            let uri = tree.uri("") + "/" + path;
            bytes_of(&server.result("resources/read", json!({"uri": uri}))["contents"][0])
        });
        assert_eq!(raw, encoded, "{value}");
        found.push(raw);
        // A prefix of any length is completed to it.
        for (at, _) in value.char_indices().filter(|(at, _)| *at > directory.len()) {
            let completion = complete(&mut server, &tree, &value[..at]);
            let inside_an_escape = value[..at].rfind('%').is_some_and(|escape| at - escape < 3);
            assert!(inside_an_escape || values(&completion) == [value], "{}: {completion}", &value[..at]);
        }
    }
    found.sort();
    let mut odd = odd;
    odd.sort();
    assert_eq!(found, odd);
}

/// `{+path}` of RFC 6570: reserved characters and escapes stay as they are.
fn expanded(value: &str) -> String {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    value.bytes().map(|byte| if stays(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[test]
fn a_name_is_completed_in_its_other_unicode_form() {
    let tree = Tree::new().file("cafe\u{301}s/Cre\u{300}me", "");
    completes(&tree, [("caf\u{e9}", &["cafe\u{301}s/"][..]), ("caf\u{e9}s/cr\u{e8}", &["caf\u{e9}s/Cre\u{300}me"])]);
}
