//! The examples do what they are for, and the picture in the README shows what they print today.

use std::fs;
use std::path::Path;

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
    client::run(env!("CARGO_BIN_EXE_mcp-fs"), root.to_str().expect("text"), &mut printed).expect("a session");
    String::from_utf8(printed).expect("text")
}

#[test]
fn the_client_gets_the_same_answers_in_both_eras() {
    let printed = session();
    let (legacy, modern) = printed.split_once("2026-07-28: ").expect("two eras");
    let common = |part: &str| -> Vec<String> { part.lines().skip(2).map(str::to_owned).collect() };
    assert_eq!(common(legacy), common(modern));
    for part in [legacy, modern] {
        assert!(part.contains("haiku.txt is read: \"Rain on the tin roof"), "{part}");
        assert!(part.contains("../secret is refused: \"../secret: leads outside"), "{part}");
    }
}

#[test]
fn the_picture_shows_what_is_printed_today() {
    let now = picture::drawn(&format!("$ {}\n{}", picture::TYPED, session()));
    let drawn = fs::read_to_string(top().join("docs/session.svg")).expect("the picture");
    assert_eq!(drawn, now, "draw it again: cargo run -q --example picture > docs/session.svg");
    assert!(drawn.contains("../secret is refused"));
}

#[test]
fn the_manual_and_the_completions_hold_every_option() {
    let command = Cli::command();
    let options: Vec<String> =
        command.get_arguments().filter_map(|option| option.get_long()).map(str::to_owned).collect();
    assert!(options.len() > 20, "{options:?}");
    for wanted in ["man", "bash", "zsh", "fish", "powershell", "elvish"] {
        let mut page = Vec::new();
        manual::write(wanted, &mut page).expect("it is known");
        let page = String::from_utf8(page).expect("text").replace("\\-", "-");
        for option in &options {
            assert!(page.contains(option.as_str()), "{wanted}: no --{option}");
        }
    }
    assert!(manual::write("tcsh", &mut Vec::new()).is_err());
}
