//! The program as a user bound by permission bits, even if the tests run as root.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::support::{Tree, command};

/// Reports, visibly, that a test was not run.
pub(crate) fn skip(why: &str) {
    // Not eprintln!, which cargo test shows only for failed tests.
    let _ = std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes());
}

/// The program, run as a user other than root who can access the tree. `None`, with a notice, if that is impossible.
pub(crate) fn unprivileged(tree: &Tree, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Option<Command> {
    if crate::support::permissions_bind() {
        return Some(command(args));
    }
    if Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().is_err() {
        skip("an unprivileged user: the tests run as root, and setpriv is not installed");
        return None;
    }
    fs::set_permissions(tree.outside(), fs::Permissions::from_mode(0o755)).expect("a mode");
    // A copy, because that user may not be able to access the build directory. cp makes it: a descriptor of ours that
    // is open for writing could be inherited by a process that another test starts at that moment, and keep the file
    // "busy".
    let program = tree.outside().join("mcp-fs");
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_mcp-fs")).arg(&program).status().expect("cp runs").success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program).args(args);
    command.current_dir("/").env_remove("MCP_FS_LOG").env_remove("MCP_FS_ALLOW_WRITE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}
