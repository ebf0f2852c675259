//! The program behind both walls, and behind each of them alone.

use std::process::{Command, Stdio};

use super::skipped;
use crate::support::{Client as _, LATEST_LEGACY, Process, Tree, command};

/// Which walls are in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Walls {
    /// As users run it.
    Both,
    /// The way paths are opened, without the kernel's sandbox: what every system has.
    First,
    /// The kernel's sandbox alone, in a build that opens any path as given: src/root/unsandboxed.rs.
    Second,
}

/// The variable by which `.ci/run` passes the path of the build without the first wall.
const UNSANDBOXED: &str = "MCP_FS_UNSANDBOXED";

impl Walls {
    /// The program behind these walls. `None`, with a notice, if they are not available.
    pub(crate) fn command(self, tree: &Tree, options: &[&str]) -> Option<Command> {
        let sandbox = if self == Self::First { "--sandbox=off" } else { "--sandbox=require" };
        let mut built = command([sandbox]);
        built.args(options).arg(tree.path());
        if self == Self::First {
            return Some(built);
        }
        if self == Self::Second {
            let Ok(unsandboxed) = std::env::var(UNSANDBOXED) else {
                skipped("the second wall alone", &format!("no {UNSANDBOXED}, the path of a build without the first"));
                return None;
            };
            let mut other = Command::new(std::path::absolute(unsandboxed).expect("a path"));
            other.args(built.get_args()).env_remove("MCP_FS_LOG");
            other.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            built = other;
        }
        has_landlock().then_some(built)
    }

    /// The same, started, in the legacy era.
    pub(crate) fn start(self, tree: &Tree, options: &[&str]) -> Option<Process> {
        self.command(tree, options).map(|command| Process::start(command).legacy(LATEST_LEGACY))
    }
}

/// Whether the kernel itself says that it can confine a process; the program must agree. Prints a notice if it cannot.
pub(crate) fn has_landlock() -> bool {
    let check = command(["--check", "--sandbox=require", env!("CARGO_MANIFEST_DIR")]).output();
    let agrees = check.is_ok_and(|output| output.status.success());
    let has = kernel_has_landlock();
    assert_eq!(agrees, has, "whether there is a second sandbox: the program, and the kernel");
    if !has {
        skipped("the second wall", "no Landlock of Linux 6.2 or later");
    }
    has
}

#[cfg(target_os = "linux")]
fn kernel_has_landlock() -> bool {
    use landlock::{ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _};

    let needed = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    needed.handle_access(AccessFs::from_all(ABI::V3)).and_then(Ruleset::create).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn kernel_has_landlock() -> bool {
    false
}
