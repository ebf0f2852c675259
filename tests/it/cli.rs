//! The command line: help, version, invalid arguments or DIR, `--check`, and exit codes.

mod check;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

use mcp_fs::limits::{Limits, Watching};
use serde_json::{Value, json};

use crate::support::{Client as _, LATEST_LEGACY, Process, Tree, command, names_of, run};

/// The output of a run that succeeds with nothing on stderr.
fn printed(args: &[&OsStr]) -> String {
    let output = run(args, "");
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The error message: on stderr, with exit code 2 and nothing on stdout.
fn complaint(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// The same, on one line.
fn one_line(output: &Output) -> String {
    let complaint = complaint(output);
    assert!(complaint.starts_with("mcp-fs: ") && complaint.ends_with('\n'), "{complaint:?}");
    assert_eq!(complaint.lines().count(), 1, "{complaint:?}");
    complaint
}

#[test]
fn help_shows_every_limit_with_its_default() {
    // Every field by name, so that adding one leads here.
    let Limits {
        list,
        page,
        output_bytes,
        resource_bytes,
        blob_bytes,
        line_bytes: _,
        in_flight,
        queued: _,
        queued_bytes: _,
        answer_bytes: _,
        held_bytes: _,
        batch: _,
        search_time,
        io_time,
        left_behind: _,
        search_threads: _, // its default is the machine's
        watch,
    } = Limits::default();
    // Two of these have an option.
    let Watching {
        mode: _,
        directories,
        poll,
        followed: _,
        streams: _,
        settle: _,
        list_pause: _,
        list_longest_pause: _,
    } = watch;
    let help = printed(&["--help".as_ref()]);
    for (option, default) in [
        ("--list-limit", list),
        ("--page-size", page),
        ("--max-output-bytes", output_bytes),
        ("--max-resource-bytes", resource_bytes),
        ("--max-blob-bytes", blob_bytes),
        ("--max-in-flight", in_flight),
        ("--search-timeout", search_time.as_secs() as usize),
        ("--io-timeout", io_time.as_secs() as usize),
        ("--watch-limit", directories),
        ("--poll-interval", poll.as_secs() as usize),
    ] {
        let (_, after) = help.split_once(&format!("{option} <")).unwrap_or_else(|| panic!("no {option} in {help}"));
        let about = after.split("\n      --").next().expect("a part");
        assert!(about.contains(&format!("[default: {default}]")), "{option}: {about}");
    }
}

#[test]
fn help_says_how_it_is_used() {
    let help = printed(&["--help".as_ref()]);
    let usage = format!("Usage: mcp-fs{} [OPTIONS] <DIR>", std::env::consts::EXE_SUFFIX);
    for said in [usage.as_str(), "claude mcp add files -- mcp-fs /dir", "MCP_FS_LOG", "Exit codes:", "--check"] {
        assert!(help.contains(said), "{said:?} is not in {help}");
    }
    assert!(printed(&["-h".as_ref()]).contains(&usage));
}

#[test]
fn version_is_one_line() {
    for option in ["--version", "-V"] {
        assert_eq!(printed(&[option.as_ref()]), format!("mcp-fs {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn invalid_arguments_are_explained() {
    let tree = Tree::new();
    let dir = tree.path().to_str().expect("text");
    for (args, said) in [
        (vec![], "<DIR>"),
        (vec![dir, "another"], "another"),
        (vec!["--bogus", dir], "--bogus"),
        (vec!["--page-size", "x", dir], "--page-size"),
        (vec!["--page-size", "0", dir], "--page-size"),
        (vec!["--page-size=-1", dir], "--page-size"),
        (vec!["--page-size", "1.5", dir], "--page-size"),
        (vec!["--page-size", "", dir], "--page-size"),
        (vec!["--list-limit", "99999999999999999999999", dir], "--list-limit"),
        (vec!["--max-output-bytes", "10", dir], "1000"),
        (vec!["--watch", "always", dir], "auto, poll, off"),
        (vec!["--watch-limit", "0", dir], "--watch-limit"),
        (vec!["--poll-interval", "0", dir], "--poll-interval"),
        (vec!["--log-level", "loud", dir], "\"warn\""),
        (vec!["--deny", "!x", dir], "!x"),
        (vec!["--deny", "", dir], "--deny"),
        (vec!["--deny", "# x", dir], "# x"),
        (vec!["--deny", "a{b", dir], "a{b"),
        (vec!["--deny", dir], "<DIR>"),
        (vec!["--protect", "x", dir], "--allow-write"),
        (vec!["--no-default-protect", dir], "--allow-write"),
        (vec!["--allow-write", "--protect", "!x", dir], "--protect"),
        (vec!["--allow-write", "--protect", "a{b", dir], "a{b"),
    ] {
        let complaint = one_line(&run(&args, ""));
        assert!(complaint.contains(said), "{args:?}: {complaint}");
    }
}

#[test]
fn an_unexpanded_variable_is_explained_wherever_it_is() {
    let tree = Tree::new();
    let dir = tree.path().to_str().expect("text");
    for args in [vec!["${CLAUDE_PROJECT_DIR}"], vec!["--deny", "${SECRETS}", dir]] {
        let complaint = one_line(&run(&args, ""));
        assert!(complaint.contains("${") && complaint.contains("did not replace the variable"), "{complaint}");
    }
}

#[test]
fn an_invalid_log_level_in_the_environment_is_explained() {
    let tree = Tree::new();
    let mut command = command([tree.path()]);
    command.env("MCP_FS_LOG", "loud");
    let mut process = Process::start(command);
    process.close_stdin();
    let exit = process.wait();
    assert_eq!(exit.status.code(), Some(2));
    assert_eq!(exit.stderr, "mcp-fs: MCP_FS_LOG must be off, error, warn, info, debug or trace\n");
    assert!(exit.rest.is_empty());
}

/// `"args": ["${DIR:-}"]` becomes this if the variable is not set.
#[test]
fn an_empty_dir_is_explained() {
    for dir in ["", " ", "\t"] {
        for args in [vec![dir], vec!["--check", dir], vec!["--allow-write", "--", dir]] {
            let complaint = one_line(&run(&args, ""));
            assert!(complaint.contains("DIR is empty") && complaint.contains("variable"), "{args:?}: {complaint}");
        }
    }
}

#[test]
fn the_environment_can_allow_writing_and_the_flag_wins() {
    let tree = Tree::new().file("a.txt", "");
    let start = |value: &str, args: &[&str]| {
        let mut command = command(args);
        command.arg(tree.path()).env("MCP_FS_ALLOW_WRITE", value);
        Process::start(command)
    };
    for (value, args, writable) in [
        ("true", &[] as &[_], true),
        ("false", &[], false),
        ("true", &["--no-fsync"], true),
        ("true", &["--allow-write"], true),
        ("false", &["--allow-write"], true),
    ] {
        let mut process = start(value, args).legacy(LATEST_LEGACY);
        let tools = process.result("tools/list", json!({}));
        assert_eq!(names_of(&tools).contains(&"write_file"), writable, "{value} {args:?}");
        let write = json!({"name": "write_file", "arguments": {"path": "a.txt", "content": ""}});
        assert_eq!(process.result("tools/call", write)["isError"] != true, writable, "{value} {args:?}");
    }
    let failed = |value: &str, args: &[&str]| {
        let mut process = start(value, args);
        process.close_stdin();
        let exit = process.wait();
        assert!(exit.status.code() == Some(2) && exit.rest.is_empty() && exit.stderr.lines().count() == 1, "{exit:?}");
        exit.stderr
    };
    for value in ["", "1", "0", "TRUE", "yes", " true", "false\n"] {
        for args in [&[] as &[_], &["--allow-write"], &["--check"]] {
            let said = failed(value, args);
            assert!(said.contains("MCP_FS_ALLOW_WRITE") && said.contains("true or false"), "{value:?}: {said}");
        }
    }
    assert!(failed("false", &["--no-fsync"]).contains("--allow-write"));
}

#[test]
fn a_dir_that_cannot_be_served_is_explained_in_one_line() {
    let tree = Tree::new().file("a.txt", "");
    for (dir, said) in [
        (tree.join("none"), "no such directory"),
        (tree.join("none/below"), "no such directory"),
        (tree.join("a.txt"), "not a directory"),
        // Windows does not say which part of the path is missing.
        (tree.join("a.txt/below"), if cfg!(windows) { "no such directory" } else { "not a directory" }),
        ("${CLAUDE_PROJECT_DIR}".into(), "${CLAUDE_PROJECT_DIR:-.}"),
        ("${workspaceFolder}/docs".into(), "plain path"),
    ] {
        for check in [&[] as &[_], &["--check".as_ref()]] {
            let complaint = one_line(&run(check.iter().copied().chain([dir.as_os_str()]), ""));
            assert!(complaint.contains(said) && complaint.contains(dir.to_str().expect("text")), "{complaint}");
        }
    }
}

/// A program's name and arguments may come from somebody else's configuration.
#[test]
fn a_dir_in_an_error_cannot_control_the_terminal() {
    let complaint = one_line(&run(["/no\u{1b}[2J\n/such\u{202e}"], ""));
    assert!(!complaint.trim_end().contains(|c: char| c.is_control() || c == '\u{202e}'), "{complaint:?}");
}

#[cfg(unix)]
#[test]
fn an_unreadable_dir_is_explained_in_one_line() {
    // Not readable and not searchable, only one of these, and behind such a directory.
    let modes = [("locked", 0), ("only-read", 0o444), ("only-searched", 0o111), ("around", 0)];
    let tree =
        modes.iter().fold(Tree::new(), |tree, (dir, bits)| tree.file(format!("{dir}/dir/a"), "").mode(dir, *bits));
    for dir in ["locked", "only-read", "only-searched", "around/dir"] {
        let Some(command) = crate::process::users::unprivileged(&tree, [tree.join(dir)]) else { return };
        let mut process = Process::start(command);
        process.close_stdin();
        let exit = process.wait();
        assert_eq!(exit.status.code(), Some(2), "{dir}: {exit:?}");
        assert!(exit.rest.is_empty());
        assert_eq!(exit.stderr.lines().count(), 1, "{exit:?}");
        assert!(exit.stderr.contains("must be readable by this user") && exit.stderr.contains(dir), "{exit:?}");
    }
}

/// procfs reveals the environment of every process, and with it the client's keys.
#[cfg(target_os = "linux")]
#[test]
fn a_kernel_file_system_is_never_served() {
    for dir in ["/proc", "/proc/self", "/proc/1/task", "/sys", "/sys/kernel"] {
        let complaint = one_line(&run([dir], ""));
        assert!(complaint.contains("kernel file system"), "{complaint}");
    }
}

#[test]
fn a_dir_of_any_name_is_served() {
    for name in ["with space", "Ümläut ジ", "it's", "$HOME", "a;b&c", "100%", "#1", "-dash", "a,b=c"] {
        let tree = Tree::new().file(Path::new(name).join("a.txt"), "one\n");
        let mut process = Process::spawn([tree.join(name)]).legacy(LATEST_LEGACY);
        let list = process.result("resources/list", json!({}));
        let uri = &list["resources"][0]["uri"];
        assert_eq!(process.result("resources/read", json!({"uri": uri}))["contents"][0]["text"], "one\n", "{name}");
        let absolute = tree.join(name).join("a.txt");
        assert_eq!(process.tool_text("read_text_file", json!({"path": absolute.to_str()})), "one\n", "{name}");
        assert_eq!(process.finish(), "");
    }
}

/// `"args": ["${CLAUDE_PROJECT_DIR:-.}"]` becomes this if the variable is not set.
#[test]
fn a_relative_dir_is_taken_from_the_working_directory() {
    let tree = Tree::new().file("sub/a.txt", "one\n");
    for dir in [".", "./", "sub/..", "../root"] {
        let mut command = command([dir]);
        command.current_dir(tree.path());
        let mut process = Process::start(command).legacy(LATEST_LEGACY);
        let allowed = process.tool_text("list_allowed_directories", json!({}));
        assert!(allowed.lines().any(|line| Path::new(line) == tree.path()), "{dir}: {allowed}");
        assert_eq!(process.tool_text("read_text_file", json!({"path": "sub/a.txt"})), "one\n");
    }
}

#[test]
fn every_option_has_its_effect() {
    let tree = (0..5).fold(Tree::new(), |tree, n| tree.file(format!("{n}.txt"), "0123456789\n".repeat(1_000)));
    let tree = tree.file(".env", "x\n").file("a.pem", "x\n");
    let options = ["--page-size=2", "--list-limit=4", "--max-output-bytes=1000", "--deny=*.pem", "--no-default-deny"];
    let args = options.iter().map(OsStr::new).chain([tree.path().as_os_str()]);
    let mut process = Process::spawn(args).legacy(LATEST_LEGACY);
    let page = process.result("resources/list", json!({}));
    assert_eq!(page["resources"].as_array().map(Vec::len), Some(2));
    let next = process.result("resources/list", json!({"cursor": page["nextCursor"]}));
    assert_eq!((next["resources"].as_array().map(Vec::len), &next["nextCursor"]), (Some(2), &Value::Null));
    let (env, denied) = (json!({"path": ".env"}), json!({"path": "a.pem"}));
    assert_eq!(process.tool_text("read_text_file", env), "x\n");
    assert!(process.tool_error("read_text_file", denied).contains("*.pem"));
    assert!(process.tool_text("read_text_file", json!({"path": "0.txt"})).len() <= 1_000);
}
