//! Group I: names that contain glob characters, and the include filters of other tools. Ignore files and links are in
//! `hidden`.

use serde_json::{Value, json};

use crate::search::{NOTHING, found};
use crate::support::{Client, TestServer, Tree};
use crate::tools::{text_and_note, with};

fn files(paths: &[&str]) -> Tree {
    paths.iter().fold(Tree::new(), |tree, path| tree.file(path, "needle\n"))
}

/// The files in which `search_text` finds a text that all of them contain.
fn searched(server: &mut TestServer, more: &Value) -> Vec<String> {
    let arguments = with(&json!({"query": "needle", "filesOnly": true}), more);
    let (text, _) = text_and_note(server, "search_text", arguments);
    text.lines().filter(|line| *line != NOTHING).map(str::to_owned).collect()
}

/// oh-my-pi #12179: names that contain braces were not found.
#[test]
fn i2_names_that_hold_braces_are_found() {
    let tree = files(&["v/{type} one.md", "v/type one.md", "v/{a,b}.md", "v/a.md", "{x}/y.md", "v/a}b{.md"]);
    let mut server = TestServer::start(&tree);
    for (pattern, want) in [
        ("v/{type}*.md", &["v/type one.md", "v/{type} one.md"][..]),
        ("{type}*", &["v/type one.md", "v/{type} one.md"]),
        ("v/{type} one.md", &["v/{type} one.md", "v/type one.md"]),
        ("v/\\{type\\}*.md", &["v/{type} one.md"]),
        ("v/{a,b}.md", &["v/{a,b}.md", "v/a.md"]),
        ("{x}/*.md", &["{x}/y.md"]),
        ("{x}", &["{x}"]),
        ("a}b{*", &["v/a}b{.md"]),
        ("{V,v}/{type} one.*", &["v/type one.md", "v/{type} one.md"]),
    ] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), want, "{pattern}");
    }
    assert_eq!(searched(&mut server, &json!({"glob": "{type}*.md"})), ["v/type one.md", "v/{type} one.md"]);
    assert_eq!(searched(&mut server, &json!({"glob": "{x}"})), ["{x}/y.md"]);
    let arguments = json!({"pattern": "*.md", "excludePatterns": ["v/{type}*.md", "{x}"]});
    assert_eq!(found(&mut server, arguments), ["v/a.md", "v/a}b{.md", "v/{a,b}.md"]);
    for pattern in ["{gone}.md", "v/{gone}*"] {
        let (text, note) = text_and_note(&mut server, "search_files", json!({"pattern": pattern}));
        assert_eq!(text, NOTHING);
        assert!(note.is_some_and(|note| note.contains("brackets and braces were matched")), "{pattern}");
    }
}

/// gemini-cli #8596, posthog-js #2737, aider PR #5530: route names were taken for character classes.
#[cfg(unix)] // Windows does not have these names side by side
#[test]
fn i3_a_route_is_found_by_its_name_which_comes_first() {
    let paths = [
        "src/app/[id]/route.ts",
        "src/app/i/route.ts",
        "src/app/I/route.ts",
        "src/app/[[...sign-in]]/page.tsx",
        "src/app/[...rest]/page.tsx",
        "src/app/blog/[slug]/[page]/p.tsx",
    ];
    let tree = files(&paths);
    let mut server = TestServer::start(&tree);
    for (pattern, want) in [
        ("src/app/[id]/route.ts", &[paths[0], paths[2], paths[1]][..]),
        ("src/app/[id]/*", &[paths[2], paths[0], paths[1]]),
        ("[id]", &["src/app/[id]", "src/app/I", "src/app/i"]),
        ("src/app/[[...sign-in]]/page.tsx", &[paths[3]]),
        ("[[...sign-in]]", &["src/app/[[...sign-in]]"]),
        ("**/[[...sign-in]]/*.tsx", &[paths[3]]),
        ("src/app/[...rest]/page.tsx", &[paths[4]]),
        ("**/[slug]/[page]/*", &[paths[5]]),
        ("src/*/[slug]/[page]/*", &[]),
        ("src/*/blog/[slug]/[a-z]age]/*", &[]),
        ("src/app/\\[id\\]/route.ts", &[paths[0]]),
    ] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), want, "{pattern}");
    }
    // Even if there is no room for it because it sorts last.
    let arguments = json!({"pattern": "src/app/[id]/route.ts", "limit": 1});
    assert_eq!(found(&mut server, arguments), [paths[0]]);
    assert_eq!(searched(&mut server, &json!({"glob": "**/[[...sign-in]]/*.tsx"})), [paths[3]]);
    assert_eq!(searched(&mut server, &json!({"glob": "src/app/[[...sign-in]]"})), [paths[3]]);
    let all_but = |patterns: Value| json!({"excludePatterns": patterns, "glob": "page.tsx"});
    assert_eq!(searched(&mut server, &all_but(json!(["[[...sign-in]]"]))), [paths[4]]);
    assert_eq!(searched(&mut server, &all_but(json!(["**/[...rest]/**"]))), [paths[3]]);
    // A pattern that is neither a name nor a glob is an error that says both.
    for (tool, arguments) in [
        ("search_files", json!({"pattern": "[[...gone-by]]"})),
        ("search_text", json!({"query": "needle", "glob": "[[...gone-by]]"})),
    ] {
        let error = server.tool_error(tool, arguments);
        assert!(error.contains("No name is written like the pattern") && error.contains("searched"), "{tool}: {error}");
        assert!(error.contains("Not a glob: invalid range"), "{tool}: {error}");
    }
}

/// vscode #261740, zed #41189, copilot-cli #4271: patterns that other tools accept gave a confident zero results.
#[test]
fn i4_the_filters_of_other_tools_select_what_they_mean() {
    let tree = files(&["src/a.ts", "src/deep/b.tsx", "test/c.ts", "lib/d.rs", "e.ts", "lib/e.test.ts"]);
    let mut server = TestServer::start(&tree);
    let in_src = &["src/a.ts", "src/deep/b.tsx"][..];
    for (glob, want) in [
        ("src/**|test/**", &["src/a.ts", "test/c.ts", "src/deep/b.tsx"][..]),
        ("src", in_src),
        ("src/", in_src),
        ("./src", in_src),
        ("/src/", in_src),
        ("src/deep", &["src/deep/b.tsx"]),
        ("deep", &["src/deep/b.tsx"]),
        (".ts", &["e.ts", "lib/e.test.ts", "src/a.ts", "test/c.ts"]),
        (".ts,.rs", &["e.ts", "lib/d.rs", "lib/e.test.ts", "src/a.ts", "test/c.ts"]),
        ("*.rs, *.tsx", &["lib/d.rs", "src/deep/b.tsx"]),
        ("{src,test}", &["src/a.ts", "test/c.ts", "src/deep/b.tsx"]),
        ("{src,test}/**", &["src/a.ts", "test/c.ts", "src/deep/b.tsx"]),
        ("!*.ts", &["lib/d.rs", "src/deep/b.tsx"]),
        ("!src", &["e.ts", "lib/d.rs", "lib/e.test.ts", "test/c.ts"]),
        ("*.ts,!*.test.ts,!src/**", &["e.ts", "test/c.ts"]),
    ] {
        assert_eq!(searched(&mut server, &json!({"glob": glob})), want, "{glob}");
    }
    let absolute = tree.join("src").display().to_string();
    assert_eq!(searched(&mut server, &json!({"glob": absolute})), in_src);
    for (pattern, want) in [
        ("src/**|test/**", &["src/a.ts", "src/deep", "test/c.ts", "src/deep/b.tsx"][..]),
        ("*.rs,*.tsx", &["lib/d.rs", "src/deep/b.tsx"]),
        ("*.ts,!*.test.ts", &["e.ts", "src/a.ts", "test/c.ts"]),
        ("src", &["src"]),
    ] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), want, "{pattern}");
    }
}

#[test]
fn i4_if_nothing_can_match_the_note_says_why() {
    let tree = files(&["src/a.ts", "src/deep/b.tsx", "Users.md"]);
    let mut server = TestServer::start(&tree);
    for (glob, path, want) in [
        (".*\\.ts$", "", "not a regex"),
        ("src\\deep\\b.tsx", "", "use / between names"),
        ("src\\**", "", "use / between names"),
        ("src/**", "src", "relative to \"path\""),
        ("deep/b.tsx", "", "**/"),
        ("A.ts", "", "case matters"),
        ("gone/*", "", "\"glob\" matches none of 3 files"),
    ] {
        let arguments = json!({"query": "needle", "glob": glob, "path": path});
        let (text, note) = text_and_note(&mut server, "search_text", arguments);
        let note = note.expect("a note");
        assert_eq!(text, NOTHING, "{glob}");
        assert!(note.contains(want) && note.contains("\"glob\" matches none of"), "{glob}: {note}");
    }
    for (pattern, path, want) in [
        (".ts", "", "put * before"),
        ("!*.md", "", "excludePatterns"),
        ("user", "", "must match the whole name"),
        ("src/*.ts", "src", "relative to \"path\""),
        ("deep/b.tsx", "", "**/"),
        ("USERS.md", "", "case matters"),
    ] {
        let (text, note) = text_and_note(&mut server, "search_files", json!({"pattern": pattern, "path": path}));
        let note = note.expect("a note");
        assert_eq!(text, NOTHING, "{pattern}");
        assert!(note.contains(want), "{pattern}: {note}");
    }
}
