//! The examples do their job, and the picture in the README shows what they print today.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use clap::CommandFactory as _;
use mcp_fs::cli::Cli;

#[path = "../../../examples/client.rs"]
#[allow(dead_code, reason = "its main is for cargo run")]
mod client;
#[path = "../../../examples/manual.rs"]
#[allow(dead_code, reason = "its main is for cargo run")]
mod manual;
#[path = "../../../examples/picture.rs"]
#[allow(dead_code, reason = "its main is for cargo run")]
mod picture;

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn session() -> String {
    let mut printed = Vec::new();
    let root = top().join("sample-root");
    client::run(Path::new(env!("CARGO_BIN_EXE_mcp-fs")), root.to_str().expect("text"), &mut printed)
        .expect("a session");
    String::from_utf8(printed).expect("text")
}

#[test]
fn the_client_prints_the_same_answers_in_both_eras() {
    let printed = session();
    let (legacy, modern) = printed.split_once("2026-07-28: ").expect("two eras");
    let common = |part: &str| -> Vec<String> { part.lines().skip(2).map(str::to_owned).collect() };
    assert_eq!(common(legacy), common(modern));
    for part in [legacy, modern] {
        assert!(part.contains("haiku.txt is read: \"Rain on the tin roof"), "{part}");
        assert!(part.contains("../secret is refused: \"../secret: leads outside"), "{part}");
    }
}

#[cfg(unix)] // it shows paths of Unix
#[test]
fn the_picture_matches_the_current_output() {
    let now = picture::drawn(&format!("$ {}\n{}", picture::TYPED, session()));
    let drawn = fs::read_to_string(top().join("docs/session.svg")).expect("the picture");
    assert_eq!(drawn, now, "draw it again: cargo run -q --example picture > docs/session.svg");
    assert!(drawn.contains("../secret is refused"));
}

#[test]
fn the_man_page_and_the_completions_have_every_option() {
    let command = Cli::command();
    let options: Vec<String> =
        command.get_arguments().filter_map(|option| option.get_long()).map(str::to_owned).collect();
    assert!(options.len() > 20, "{options:?}");
    for wanted in ["man", "bash", "zsh", "fish", "powershell", "elvish"] {
        let page = written(wanted).replace("\\-", "-");
        for option in &options {
            assert!(page.contains(option.as_str()), "{wanted}: no --{option}");
        }
    }
    assert!(manual::page("tcsh").is_err());
}

fn written(wanted: &str) -> String {
    String::from_utf8(manual::page(wanted).expect("it is known")).expect("text")
}

#[test]
fn the_man_page_and_the_bash_completion_are_read_without_a_warning() {
    // Requests and macros that every man implementation knows. The first two lines define how an apostrophe is printed.
    let known = [".ie", ".el", ".TH", ".SH", ".TP", ".PP", ".br", ".ft", ".nf", ".fi", ".RS", ".RE", ".IP", ".P"];
    let page = written("man");
    for line in page.lines().filter(|line| line.starts_with('.')) {
        assert!(known.contains(&line.split(' ').next().unwrap_or(line)), "{line}");
    }
    for section in ["TH mcp-fs", "SH NAME", "SH SYNOPSIS", "SH DESCRIPTION", "SH OPTIONS"] {
        assert!(page.contains(&format!("\n.{section}")), "no {section}");
    }
    complaints("groff", &["-man", "-Tutf8", "-ww", "-z"], &page);
    complaints("bash", &["-n"], &written("bash"));
}

/// Fails with the complaints of a program about `text`. If it is not installed, the checks above have to do.
fn complaints(program: &str, args: &[&str], text: &str) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("room");
    let Ok(output) = Command::new(program).args(args).arg(file.path()).output() else {
        return eprintln!("SKIPPED: {program} is not installed");
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{program}: {said}");
}
