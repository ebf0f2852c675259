//! Group C: listing and search. Unreadable directories, links, trees larger than any context, unusual names.

use serde_json::{Value, json};

#[cfg(unix)]
use crate::resources::list_all;
use crate::resources::names;
#[cfg(target_os = "linux")]
use crate::resources::{bytes_of, read};
use crate::search::found;
use crate::support::{Client, TestServer, Tree};
use crate::tools::{text_and_note, with};

/// node-directory-tree #14, servers: one unreadable directory failed the whole listing.
#[cfg(target_os = "linux")]
#[test]
fn c1_an_unreadable_directory_is_marked_and_the_others_are_listed() {
    let tree = Tree::new().file("a.txt", "a").file("x/hidden", "").file("y/b.txt", "b").file("x/sub/c.txt", "");
    let tree = tree.file("shut.txt", "").mode("shut.txt", 0).mode("x", 0);
    let Some(mut process) = unprivileged(&tree) else { return };
    let (text, _) = text_and_note(&mut process, "directory_tree", json!({}));
    let shown: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(names(shown.as_array().unwrap()), ["a.txt", "shut.txt", "x", "y"]);
    let x = &shown[2];
    assert!(x["error"].as_str().is_some_and(|error| error.contains("permission denied")), "{x}");
    assert_eq!(x.get("children"), None, "it is not known what is in it");
    assert_eq!(shown[3]["children"][0]["name"], "b.txt");

    let search = |process: &mut _, tool, arguments, want| {
        let (text, note) = text_and_note(process, tool, arguments);
        assert_eq!(text, want, "{tool}");
        let note = note.unwrap_or_default();
        assert!(note.contains("could not be read") && note.contains(": x"), "{tool} names what it did not see: {note}");
    };
    search(&mut process, "search_files", json!({"pattern": "*", "kind": "file"}), "a.txt\nshut.txt\ny/b.txt");
    search(&mut process, "search_text", json!({"query": "b"}), "y/b.txt:1: b");
    for (tool, what) in [("search_files", json!({"pattern": "*"})), ("search_text", json!({"query": "b"}))] {
        let text = process.tool_error(tool, with(&what, &json!({"path": "x"})));
        assert!(text.contains("permission denied"), "{tool}: {text}");
    }

    assert_eq!(names(&list_all(&mut process)), ["a.txt", "shut.txt", "y/b.txt"]);
    let listed = process.tool_text("list_directory", json!({}));
    assert_eq!(listed, "[FILE] a.txt\n[FILE] shut.txt\n[DIR] x\n[DIR] y");
    for tool in ["list_directory", "list_directory_with_sizes", "directory_tree"] {
        let text = process.tool_error(tool, json!({"path": "x"}));
        assert!(text.contains("permission denied"), "{tool}: {text}");
    }
    for path in ["shut.txt", "x/hidden", "x/nothing"] {
        let text = process.tool_error("read_text_file", json!({"path": path}));
        assert!(text.contains("permission denied"), "{path}: {text}");
    }
    let info = process.tool_text("get_file_info", json!({"path": "shut.txt"}));
    assert!(info.contains("size: 0") && info.contains("permissions: 000"), "{info}");
    let error = process.error("resources/read", json!({"uri": tree.uri("shut.txt")}));
    assert_eq!(error["code"], -32603, "{error}");
}

/// The program as a user bound by permissions; `None`, with a notice, if that is impossible.
#[cfg(target_os = "linux")]
fn unprivileged(tree: &Tree) -> Option<crate::support::Process> {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};

    use crate::support::{Process, permissions_bind};

    if permissions_bind() {
        return Some(Process::spawn([tree.path()]));
    }
    let nobody = |argument: &std::ffi::OsStr| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_mcp-fs")]);
        command.arg(argument).env_remove("MCP_FS_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    if !nobody("--version".as_ref()).output().is_ok_and(|output| output.status.success()) {
        crate::sandbox::skipped("what permissions forbid", "root is not held back, and setpriv cannot start mcp-fs");
        return None;
    }
    // Temporary directories are accessible to their owner only.
    std::fs::set_permissions(tree.outside(), std::fs::Permissions::from_mode(0o755)).unwrap();
    Some(Process::start(nobody(tree.path().as_os_str())))
}

/// UI-TARS #1055 and a number of other servers: broken links failed listings, loops exhausted descriptors, links
/// outside were followed.
#[cfg(unix)]
#[test]
fn c2_links_are_listed_as_links_and_never_followed_by_a_walk() {
    let tree = Tree::new().link("broken", "/nope").link("loop", ".").link("out", "../outside").file("d/f.txt", "");
    let tree = tree.link("d/up", "..").link("d/self", "self").link("out-file", "../secret");
    std::fs::create_dir(tree.outside().join("outside")).unwrap();
    std::fs::write(tree.outside().join("outside/leaked.txt"), "").unwrap();
    let mut server = TestServer::start(&tree);
    let text = server.tool_text("directory_tree", json!({"maxDepth": 50, "includeIgnored": true}));
    assert!(!text.contains("leaked") && text.matches("f.txt").count() == 1, "each directory once: {text}");
    assert_eq!(text.matches("\"link\"").count(), 6, "{text}");
    let listed = server.tool_text("list_directory", json!({}));
    assert_eq!(listed, "[LINK] broken\n[DIR] d\n[LINK] loop\n[LINK] out\n[LINK] out-file");
    assert_eq!(names(&list_all(&mut server)), ["d/f.txt"]);
    let all = ["broken", "d", "loop", "out", "out-file", "d/f.txt", "d/self", "d/up"];
    assert_eq!(found(&mut server, json!({"pattern": "*", "includeIgnored": true})), all);
    assert_eq!(found(&mut server, json!({"pattern": "{loop,out,d/up}/**"})), [""; 0]);
    // The links lead to `leaked.txt` and `secret`: neither the name nor the text is found.
    for query in ["SECRET", "leaked"] {
        assert_eq!(server.tool_text("search_text", json!({"query": query})), crate::search::NOTHING);
    }
    // If named, a link that stays inside is followed, even in circles.
    assert_eq!(
        server.tool_text("list_directory", json!({"path": "loop/loop/d/up/d"})),
        "[FILE] f.txt\n[LINK] self\n[LINK] up"
    );
    assert!(server.tool_error("read_text_file", json!({"path": "d/self"})).contains("loop"));
}

/// servers #1077, #1222, UI-TARS #969: trees larger than any context.
#[test]
fn c3_a_tree_larger_than_an_answer_is_cut_with_counts() {
    let tree = (0..3_000).fold(Tree::new(), |tree, number| tree.file(format!("many/file-{number:04}.txt"), ""));
    let deep = vec!["deep"; 40].join("/");
    let tree = tree.file(format!("{deep}/bottom.txt"), "");
    let mut server = TestServer::start(&tree);
    let (text, note) = text_and_note(&mut server, "directory_tree", json!({}));
    assert!(text.len() <= 40_000, "{} bytes", text.len());
    let shown: Value = serde_json::from_str(&text).expect("JSON");
    let entries = text.matches("\"name\"").count();
    let note = note.expect("a note");
    assert!(note.contains(&format!("{entries} entries")) && note.contains("not entered"), "{note}");
    assert_eq!(names(shown.as_array().unwrap()), ["deep", "many"]);

    // Without the broad directory: ten levels by default, and all of them on request.
    let (text, note) = text_and_note(&mut server, "directory_tree", json!({"path": "deep"}));
    assert_eq!(text.matches("\"name\"").count(), 10);
    assert!(note.is_some_and(|note| note.contains("1 directory not entered") && note.contains("maxDepth")));
    let (text, note) = text_and_note(&mut server, "directory_tree", json!({"path": "deep", "maxDepth": 40}));
    assert!(text.contains("bottom.txt") && note.is_none(), "{note:?}");

    let (text, note) = text_and_note(&mut server, "list_directory", json!({"path": "many"}));
    assert!(text.len() <= 40_000 && note.is_some_and(|note| note.contains("of 3,000") && note.contains("continue")));
}

/// servers #2219, #251, #1150, vscode #11874: excluded directories were walked all the same.
#[cfg(target_os = "linux")]
#[test]
fn c4_excluded_directories_are_not_even_opened() {
    use rustix::fs::inotify;

    let tree = Tree::new().file(".gitignore", "node_modules/\n").file("node_modules/m/index.js", "").file("a.txt", "");
    let tree = tree.file("sub/.git/HEAD", "").file("excluded/x", "").file("sub/b.txt", "");
    let kernel = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK).unwrap();
    for directory in ["node_modules", "node_modules/m", "sub/.git", "excluded"] {
        inotify::add_watch(&kernel, tree.join(directory), inotify::WatchFlags::OPEN).unwrap();
    }
    let was_opened = || {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4_096];
        inotify::Reader::new(&kernel, &mut buffer).next().is_ok()
    };
    let mut server = TestServer::start(&tree);
    for patterns in [json!(["**/excluded/**"]), json!(["excluded"]), json!(["excluded/"])] {
        server.tool_text("directory_tree", json!({"excludePatterns": patterns}));
        assert!(!was_opened(), "{patterns}: a directory that is left out was opened");
    }
    for patterns in [json!(["**/excluded/**"]), json!(["excluded/**"]), json!(["excluded"]), json!(["excluded/"])] {
        found(&mut server, json!({"pattern": "**/*.js", "excludePatterns": patterns}));
        server.tool_text("search_text", json!({"query": "x", "excludePatterns": patterns}));
        assert!(!was_opened(), "{patterns}: a search opened a directory that is left out");
    }
    std::fs::write(tree.join(".gitignore"), "node_modules/\nexcluded\n").unwrap();
    assert_eq!(names(&list_all(&mut server)), [".gitignore", "a.txt", "sub/b.txt"]);
    assert!(!was_opened(), "resources/list opened a directory that it leaves out");
    let text = server.tool_text("directory_tree", json!({"includeIgnored": true}));
    assert!(
        text.contains("index.js") && text.contains("HEAD") && text.contains("excluded"),
        "the flag shows it: {text}"
    );
    assert!(was_opened(), "the watch would have seen it");
    let arguments = json!({"pattern": "{index.js,x}", "includeIgnored": true});
    assert_eq!(found(&mut server, arguments), ["excluded/x", "node_modules/m/index.js"]);
    assert_eq!(found(&mut server, json!({"pattern": "{index.js,x}"})), [""; 0]);
}

/// servers #735, #896, #1067, mark3labs PR #25, code-index-mcp #58: models send `*.py` or `users.go`, and got nothing
/// from deeper levels.
#[test]
fn c5_patterns_as_models_send_them_find_what_they_mean() {
    let tree = Tree::new().file("a.py", "").file("sub/b.py", "").file("sub/users.go", "");
    let mut server = TestServer::start(&tree);
    for (pattern, want) in [
        ("*.py", &["a.py", "sub/b.py"][..]),
        ("**/*.py", &["a.py", "sub/b.py"]),
        ("users.go", &["sub/users.go"]),
        ("sub/*", &["sub/b.py", "sub/users.go"]),
    ] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), want, "{pattern}");
        for path in ["", ".", tree.path().to_str().unwrap(), &tree.uri("")] {
            assert_eq!(found(&mut server, json!({"pattern": pattern, "path": path})), want, "{pattern} in {path:?}");
        }
    }
}

/// servers #896, PR #3716: people expected `search_files` to search contents.
#[test]
fn c6_search_files_refers_to_the_tool_for_contents() {
    let tree = Tree::new().file("a.txt", "hay\na needle in it\n").file("needle.txt", "hay\n");
    let mut server = TestServer::start(&tree);
    let list = server.result("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap();
    let names = tools.iter().find(|tool| tool["name"] == "search_files").expect("search_files");
    let description = names["description"].as_str().unwrap();
    assert!(description.contains("by name") && description.contains("search_text"), "{description}");
    assert_eq!(server.tool_text("search_text", json!({"query": "needle"})), "a.txt:2: a needle in it");
    assert_eq!(found(&mut server, json!({"pattern": "*needle*"})), ["needle.txt"]);
}

/// servers and others: names that could be listed but not opened, or that broke the listing.
#[cfg(target_os = "linux")]
#[test]
fn c10_unusual_names_are_listed_on_one_line_each_and_can_be_read() {
    let odd: [&[u8]; 12] = [
        b"a..b.txt",
        b"Q&A $5;.md",
        b" lead",
        b"trail ",
        b"new\nline",
        b"~tilde.txt",
        b"bad\xFF.txt",
        b"-dash",
        b"back\\slash",
        b"...",
        b"c:\\x",
        "\u{202e}gpj.exe".as_bytes(),
    ];
    let tree = odd.iter().fold(Tree::new(), |tree, name| tree.file_bytes_name(name, *name));
    let mut server = TestServer::start(&tree);
    let listed = server.tool_text("list_directory", json!({}));
    assert_eq!(listed.lines().count(), odd.len(), "{listed}");
    let mut found = Vec::new();
    for line in listed.lines() {
        let path = line.strip_prefix("[FILE] ").expect("a file");
        let media = server.tool("read_media_file", json!({"path": path}));
        let bytes = bytes_of(&media["content"][0]["resource"]);
        found.push(bytes.clone());
        let single = server.tool("read_text_file", json!({"path": path}));
        assert_ne!(single["isError"], true, "{path}: {single}");
        let uri = media["content"][0]["resource"]["uri"].as_str().expect("a URI").to_owned();
        assert_eq!(bytes_of(&read(&mut server, &uri)), bytes, "{uri}");
    }
    // Each file contains its own name.
    found.sort();
    let mut want: Vec<Vec<u8>> = odd.iter().map(|name| name.to_vec()).collect();
    want.sort();
    assert_eq!(found, want);
    // The lines of search_files are the names that were listed.
    let searched = crate::search::found(&mut server, json!({"pattern": "*"}));
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.strip_prefix("[FILE] ")).collect();
    assert_eq!(searched, listed);
    let with_text = server.tool_text("search_text", json!({"query": "t", "filesOnly": true}));
    assert!(with_text.lines().all(|path| listed.contains(&path)), "{with_text}");
    let resources = list_all(&mut server);
    assert_eq!(resources.len(), odd.len());
    for resource in resources {
        let bytes = bytes_of(&read(&mut server, resource["uri"].as_str().unwrap()));
        assert!(want.contains(&bytes), "{resource}");
    }
}

/// servers #1970, PR #1999, PR #3238: macOS stores names decomposed, and puts U+202F into the names of screenshots.
#[cfg(target_os = "linux")]
#[test]
fn c11_a_name_is_found_in_its_other_unicode_form() {
    let decomposed = "\u{30b7}\u{3099}.txt";
    let composed = "\u{30b8}.txt";
    let screenshot = "Screenshot 2026-08-31 at 9.41.00\u{202f}AM.png";
    let tree = Tree::new().file(decomposed, "decomposed").file(screenshot, "picture");
    let mut server = TestServer::start(&tree);
    let text = |server: &mut TestServer, path: &str| server.tool_text("read_text_file", json!({"path": path}));
    assert_eq!(text(&mut server, composed), "decomposed");
    assert_eq!(bytes_of(&read(&mut server, &tree.uri(composed))), b"decomposed");
    assert_eq!(text(&mut server, &screenshot.replace('\u{202f}', " ")), "picture");
    // A search also finds it, and returns the name on the disk.
    for pattern in [composed, "\u{30b8}*"] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), [decomposed], "{pattern}");
    }
    assert_eq!(found(&mut server, json!({"pattern": decomposed})), [decomposed]);
    std::fs::write(tree.join(composed), "composed").unwrap();
    assert_eq!(text(&mut server, composed), "composed", "exact bytes win");
    assert_eq!(text(&mut server, decomposed), "decomposed", "exact bytes win");
    std::fs::write(tree.join(screenshot.replace('\u{202f}', "\u{a0}")), "another").unwrap();
    let error = server.tool_error("read_text_file", json!({"path": screenshot.replace('\u{202f}', " ")}));
    assert!(error.contains("several names"), "{error}");
}
