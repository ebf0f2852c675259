//! The pages are true: their tables, commands and links match the program.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{page, quoted, rows, section, top};
use crate::resources::completion::asking;
use crate::support::{Client as _, LATEST_LEGACY, Process, TestServer, Tree, command, names_of, run};

/// The maximum number of lines in README.md.
const LONGEST: usize = 150;

fn readme() -> String {
    page("README.md")
}

/// The fenced blocks of one language, without their fences.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split_once("```").expect("the fence is closed").0).collect()
}

fn help() -> String {
    let output = run(["--help"], "");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

#[test]
fn its_tables_of_tools_match_the_server() {
    let readme = readme();
    let rows = rows(section(&readme, "What it can do"), "tool");
    let (changing, reading): (Vec<_>, Vec<_>) = rows.iter().map(|row| row[0]).partition(|name| name.ends_with(" *"));
    let names = |cells: Vec<&str>| -> Vec<String> { cells.iter().map(|cell| quoted(cell)[0].to_owned()).collect() };
    let (reading, changing) = (names(reading), names(changing));
    let tree = Tree::new();
    let list = TestServer::start(&tree).legacy(LATEST_LEGACY).result("tools/list", json!({}));
    assert_eq!(reading, names_of(&list), "README's tools, and tools/list");
    let list = TestServer::builder(&tree).allow_write().start().legacy(LATEST_LEGACY).result("tools/list", json!({}));
    assert_eq!([reading, changing].concat(), names_of(&list), "README's tools, and tools/list with --allow-write");
}

#[test]
fn its_resource_methods_are_served() {
    let resources = page("docs/resources.md");
    let tree = Tree::new().file("a.txt", "a");
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for row in rows(&resources, "method") {
        for method in quoted(row[0]) {
            let mut params = asking(&tree, "a");
            params["uri"] = json!(tree.uri("a.txt"));
            if method == "subscriptions/listen" {
                server.ask_modern(method, json!({"notifications": {}}));
                assert_eq!(server.recv()["method"], "notifications/subscriptions/acknowledged");
                server.end_input();
                assert_eq!(server.recv()["result"]["resultType"], "complete");
            } else {
                server.result(method, params);
            }
        }
    }
}

/// Run by a shell as it would be typed; only `cargo run` is replaced by the program that it would run.
#[cfg(unix)]
#[test]
fn its_trial_prints_the_output_shown() {
    let readme = readme();
    let trial = section(&readme, "Try it without a client");
    let typed = blocks(trial, "sh")[0];
    assert!(typed.contains("| cargo run -q -- sample-root"), "the trial pipes into sample-root: {typed}");
    let typed = typed.replace("cargo run -q --", env!("CARGO_BIN_EXE_mcp-fs"));
    let output = std::process::Command::new("sh").args(["-c", &typed]).current_dir(top()).output().expect("sh");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(blocks(trial, "json")[0], String::from_utf8_lossy(&output.stdout));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(trial.contains("`mcp-fs: serving ...`") && stderr.lines().count() == 2, "{stderr}");
    assert!(stderr.lines().all(|line| line.starts_with("mcp-fs: serving ")), "{stderr}");
}

#[test]
fn its_searches_find_what_is_shown() {
    let searching = page("docs/searching.md");
    let (calls, answers) = (blocks(&searching, "json"), blocks(&searching, "text"));
    assert_eq!((calls.len(), answers.len()), (2, 2), "two calls, and what they give");
    let mut process = Process::spawn(["sample-root"]).legacy(LATEST_LEGACY);
    for ((tool, arguments), answer) in ["search_files", "search_text"].into_iter().zip(calls).zip(answers) {
        let arguments = serde_json::from_str(arguments).expect("the arguments are JSON");
        assert_eq!(process.tool_text(tool, arguments), answer.trim_end(), "{tool}");
    }
}

#[test]
fn its_configuration_starts_a_server_that_answers() {
    const VARIABLE: &str = "${CLAUDE_PROJECT_DIR:-.}";
    let readme = readme();
    let block = blocks(section(&readme, "Add it to a client"), "json")[0];
    let configuration: Value = serde_json::from_str(block).expect("the block is JSON");
    let server = &configuration["mcpServers"]["files"];
    assert_eq!(server["command"], "mcp-fs");
    let args = server["args"].as_array().expect("args").iter().map(|arg| arg.as_str().expect("a string"));
    let args: Vec<String> = args.map(|arg| arg.replace(VARIABLE, "sample-root")).collect();
    assert!(block.contains(VARIABLE), "the project's directory, with a default: Claude Code does not set it");
    let mut process = Process::spawn(&args).legacy(LATEST_LEGACY);
    assert!(process.tool_text("read_text_file", json!({"path": "haiku.txt"})).contains("kettle"));
}

/// The README has the short form of each row of the installing page.
#[test]
fn its_clients_are_configured_as_the_installing_page_says() {
    let (readme, installing) = (readme(), page("docs/installing.md"));
    let long = rows(&installing, "client");
    for row in rows(&readme, "client") {
        let same =
            long.iter().find(|other| other[0] == row[0]).unwrap_or_else(|| panic!("docs/installing.md: {row:?}"));
        let short = quoted(row[1])[0];
        assert!(quoted(same[1]).contains(&short), "{short:?} is not in {same:?}");
    }
}

/// The server's answer to a client that did not expand the variable must lead to the explanation in the README.
#[test]
fn its_hint_on_variables_matches_the_program() {
    let process = Process::start(command(["${CLAUDE_PROJECT_DIR}"]));
    let exit = process.wait();
    assert_eq!(exit.status.code(), Some(2));
    assert!(exit.stderr.contains("${CLAUDE_PROJECT_DIR:-.}"), "{}", exit.stderr);
    assert!(readme().contains("${CLAUDE_PROJECT_DIR:-.}"));
}

#[test]
fn its_table_of_options_matches_the_help() {
    let reference = page("docs/reference.md");
    let table = rows(&reference, "option");
    let help = help();
    let mut documented: Vec<String> = Vec::new();
    for row in &table {
        let is_option = |word: &&str| word.starts_with("--");
        documented.extend(quoted(row[0]).iter().map(|option| option.split(' ').next().unwrap_or(option).to_owned()));
        assert!(quoted(row[0]).iter().all(is_option), "{row:?}");
    }
    let starts = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("-h, ").or_else(|| line.strip_prefix("-V, ")).unwrap_or(line).to_owned()
    };
    let lines: Vec<String> = help.lines().map(starts).filter(|line| line.starts_with("--")).collect();
    let offered: Vec<&str> = lines.iter().map(|line| line.split(' ').next().unwrap_or(line)).collect();
    assert_eq!(documented, offered, "the table of options, and --help");
}

#[test]
fn its_defaults_match_the_help() {
    let reference = page("docs/reference.md");
    let help = help();
    let mut checked = 0;
    for row in rows(&reference, "option") {
        let option = quoted(row[0])[0].split(' ').next().expect("an option");
        let (_, after) = help.split_once(&format!("{option} ")).unwrap_or(("", ""));
        let own = after.split("\n      --").next().unwrap_or(after);
        let Some((_, default)) = own.split_once("[default: ") else { continue };
        let default = default.split(']').next().expect("a closing bracket");
        assert_eq!(row[1].replace(',', ""), default, "{option}");
        checked += 1;
    }
    assert!(checked >= 10, "only {checked} defaults were found in --help");
}

#[test]
fn its_error_codes_match_the_source() {
    let errors = page("docs/errors.md");
    let table = rows(&errors, "code");
    let mut documented: Vec<i32> = table.iter().map(|row| row[0].parse().expect("a code")).collect();
    let source = fs::read_to_string(top().join("src/jsonrpc/error.rs")).expect("src/jsonrpc/error.rs");
    let code = |line: &str| line.strip_prefix("pub const ")?.split_once("i32 = ")?.1.strip_suffix(';')?.parse().ok();
    let mut used: Vec<i32> = source.lines().filter_map(code).collect();
    for codes in [&mut documented, &mut used] {
        codes.sort_unstable();
        codes.dedup();
    }
    assert_eq!(documented, used, "the page's codes, and src/jsonrpc/error.rs");
}

#[test]
fn its_denied_names_are_denied() {
    let security = page("SECURITY.md");
    let (_, denied) = security.split_once("**Denied** files").expect("the list of denied names");
    let (denied, _) = denied.split_once("`--deny`").expect("its end");
    let (exceptions, names): (Vec<&str>, Vec<&str>) =
        quoted(denied).into_iter().partition(|name| [".example", ".sample", ".template"].contains(name));
    assert_eq!((exceptions.len(), names.len()), (3, 11), "{denied}");
    // A pattern with a slash is a directory, or is inside one: a file below it matches.
    let file = |name: &str| match name {
        _ if name.ends_with('/') => format!("{name}file"),
        ".env.*" => ".env.local".to_owned(),
        _ => name.to_owned(),
    };
    let mut tree = Tree::new();
    for name in &names {
        tree = tree.file(file(name), "secret");
    }
    for exception in &exceptions {
        tree = tree.file(format!(".env{exception}"), "A=1");
    }
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for name in &names {
        let error = server.tool_error("read_text_file", json!({"path": file(name)}));
        assert!(error.contains("denied"), "{name}: {error}");
    }
    for exception in &exceptions {
        assert_eq!(server.tool_text("read_text_file", json!({"path": format!(".env{exception}")})), "A=1");
    }
}

#[test]
fn its_protected_names_are_protected() {
    let security = page("SECURITY.md");
    let (_, protected) = security.split_once("run or obey them: ").expect("the list of protected names");
    let names = quoted(protected.split_once("`--protect`").expect("its end").0);
    let tree = Tree::new();
    let mut server = TestServer::builder(&tree).allow_write().start().legacy(LATEST_LEGACY);
    for name in &names {
        let error = server.tool_error("write_file", json!({"path": name.trim_end_matches('/'), "content": ""}));
        assert!(error.contains(&format!("\"{name}\"")), "{name}: {error}");
    }
    let report = run(["--check", "--allow-write", tree.path().to_str().expect("text")], "").stdout;
    let report = String::from_utf8(report).expect("text");
    let line = report.lines().find_map(|line| line.strip_prefix("protected     ")).expect("what --check says of it");
    let (mut listed, mut named): (Vec<&str>, Vec<&str>) = (line.split(' ').collect(), names);
    listed.sort_unstable();
    named.sort_unstable();
    assert_eq!(listed, named, "what --check says, and SECURITY.md");
}

/// All pages that people read.
fn pages() -> Vec<PathBuf> {
    let below = |directory: &str| walkdir::WalkDir::new(top().join(directory)).into_iter().filter_map(Result::ok);
    let here = fs::read_dir(top()).expect("the repository").map(|entry| entry.expect("readable").path());
    let deeper = ["docs", "fuzz", "tests/transcripts"].into_iter().flat_map(below).map(walkdir::DirEntry::into_path);
    here.chain(deeper).filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// The name by which a heading can be linked.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|it| it.0);
        for link in links.filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name("").join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", path.display());
            let has = |text: &str| {
                text.lines().any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading)
            };
            let found = heading.is_empty() || fs::read_to_string(&target).is_ok_and(|text| has(&text));
            assert!(found, "{}: {link}: no such heading", path.display());
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} links were found");
}

/// "What went wrong elsewhere" names a test and its place for each class of faults.
#[test]
fn the_tests_it_names_exist() {
    let security = page("SECURITY.md");
    for row in rows(section(&security, "What went wrong elsewhere"), "what went wrong") {
        let (_, file) = row[2].split_once("](").expect("a link to the test's file");
        let file = file.trim_end_matches(')');
        let source = fs::read_to_string(top().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let tests = quoted(row[1]);
        assert!(!tests.is_empty(), "{row:?}");
        for test in tests {
            assert!(source.contains(&format!("fn {test}(")), "{file} has no {test}");
        }
    }
}

#[test]
fn it_is_short() {
    let lines = readme().lines().count();
    assert!(lines <= LONGEST, "{lines} lines");
}
