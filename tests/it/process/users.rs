//! The program as a user whom permission bits bind, also where the tests run as root.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::support::{Tree, command};

/// Says so, loudly, where a test cannot be run.
pub(crate) fn skip(why: &str) {
    // Not eprintln!, which cargo test shows for failed tests only.
    let _ = std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes());
}

/// The program, run as a user who is not root and who may reach the tree. `None`, and it says so, where that cannot
/// be done.
pub(crate) fn unprivileged(tree: &Tree, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Option<Command> {
    if crate::support::permissions_bind() {
        return Some(command(args));
    }
    if Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().is_err() {
        skip("an unprivileged user: the tests run as root, and setpriv is not installed");
        return None;
    }
    fs::set_permissions(tree.outside(), fs::Permissions::from_mode(0o755)).expect("a mode");
    // A copy, as the user may not be able to reach the directory that it was built in. Made by cp: a descriptor of
    // ours that is open for writing could be inherited by what another test starts just then, and keep it "busy".
    let program = tree.outside().join("mcp-fs");
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_mcp-fs")).arg(&program).status().expect("cp runs").success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program).args(args);
    command.current_dir("/").env_remove("MCP_FS_LOG").env_remove("MCP_FS_ALLOW_WRITE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}
