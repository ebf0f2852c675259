//! The second wall alone: a build that opens whatever path it is given, without any check of its own, returns nothing
//! from outside and changes nothing there, because the kernel does not let it.
//!
//! `.ci/run` makes that build. By hand:
//!
//! ```text
//! RUSTFLAGS="--cfg mcp_fs_unsandboxed" cargo build --target-dir target/unsandboxed
//! MCP_FS_UNSANDBOXED=target/unsandboxed/debug/mcp-fs cargo test second_wall
//! ```

use std::process::Stdio;

use serde_json::json;

use super::attempts::{LEADS_OUTSIDE, OTHERS};
use super::escapes::{Target, spelled, tree};
use super::walls::Walls;
use super::{OPERATIONS, request};
use crate::support::Client as _;
use crate::writes::refused::state;
use crate::writes::{changing, outside};

/// `stat` does not open anything, so Landlock allows it: that shows that nothing but the second wall is there.
#[test]
fn the_first_wall_is_really_gone() {
    let tree = tree();
    let Some(mut process) = Walls::Second.start(&tree, &[]) else { return };
    for path in ["../secret", "out", "up/secret", "to-inner/../out"] {
        let facts = process.tool_text("get_file_info", json!({"path": path}));
        assert!(facts.contains("isFile: true"), "{path}: {facts}");
    }
}

#[test]
fn without_a_second_wall_such_a_build_does_not_start() {
    let tree = tree();
    let Some(mut command) = Walls::Second.command(&tree, &["--allow-write"]) else { return };
    command = {
        let mut off = std::process::Command::new(command.get_program());
        off.arg("--sandbox=off").arg(tree.path()).stdin(Stdio::null());
        off
    };
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty());
}

/// The harness fails the test if a secret is sent; this only checks that the kernel was asked at all.
#[test]
fn nothing_outside_is_read_behind_the_second_wall_alone() {
    let tree = tree();
    let Some(mut process) = Walls::Second.start(&tree, &[]) else { return };
    Target::Present.set(tree.outside());
    let spellings: Vec<&str> =
        LEADS_OUTSIDE.iter().copied().chain(OTHERS.iter().map(|(spelling, ..)| *spelling)).collect();
    for operation in OPERATIONS {
        let mut refused = 0;
        for spelling in &spellings {
            let (method, params) = request(operation, &spelled(&tree, spelling));
            let answer = process.either(method, params).to_string();
            refused += usize::from(answer.contains("permission denied"));
            assert!(!answer.contains("leaf\\n") || answer.contains("inner"), "{operation} {spelling}: {answer}");
        }
        assert!(operation == "get_file_info" || refused > 10, "{operation}: the kernel refused only {refused}");
    }
}

#[test]
fn nothing_outside_is_changed_behind_the_second_wall_alone() {
    let tree = outside::tree();
    let Some(mut process) = Walls::Second.start(&tree, &["--allow-write"]) else { return };
    let before = state(tree.outside());
    let mut refused = 0;
    for spelling in outside::ways(&tree) {
        for (tool, arguments) in changing(&spelling) {
            let said = process.tool(tool, arguments);
            refused += usize::from(said.to_string().contains("permission denied"));
        }
    }
    assert_eq!(state(tree.outside()), before);
    assert!(refused > 100, "the kernel refused only {refused}");
}

#[test]
fn nothing_from_outside_comes_in_by_swapping_names_behind_the_second_wall_alone() {
    super::race::behind(Walls::Second);
}
