//! If the kernel has no openat2, or a sandbox refuses it, cap-std's handles confine every path instead: the same
//! attempts, with the same answers. Older container runtimes are such a sandbox.
//!
//! Setting a filter needs code that this crate does not allow, so perl, which most systems have, sets it and then
//! becomes the server.

use std::process::{Command, Stdio};

use super::{DIRECTORY_OPERATIONS, FILE_OPERATIONS, OPERATIONS, SUBSCRIBE, ask, asked, escapes, skipped};
use crate::support::{Client, LATEST_LEGACY, Process, Tree, command};

/// The number of openat2 on all machines.
const OPENAT2: u32 = 437;

/// The error of kernels that do not have a system call, and of most container runtimes for one that they do not know.
pub(crate) const ENOSYS: u32 = 38;
/// The error of other sandboxes, such as older container runtimes.
pub(crate) const EPERM: u32 = 1;

/// Makes every system call with one of these numbers fail with this error, then runs the arguments.
const WITHOUT: &str = r#"
    my $prctl = { x86_64 => 157, aarch64 => 167, riscv64 => 167 }->{(split ' ', `uname -m`)[0]} or die "machine";
    my @calls = split ',', shift;
    my $error = shift;
    my @filter = ([0x20, 0, 0, 0]);
    push @filter, [0x15, @calls - $_, 0, $calls[$_]] for 0 .. $#calls;
    push @filter, [6, 0, 0, 0x7fff0000], [6, 0, 0, 0x00050000 | $error];
    my $filter = join '', map { pack 'S C C L', @$_ } @filter;
    my $program = pack 'S x6 P', scalar @filter, $filter;
    syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
    syscall($prctl, 22, 2, $program) == 0 or die "seccomp: $!";
    exec { $ARGV[0] } @ARGV or die "exec: $!";
"#;

/// The arguments of `command`, run without openat2; `None`, with a notice, if that is impossible.
pub(super) fn without_openat2(command: &Command) -> Option<Command> {
    without(&[OPENAT2], ENOSYS, command)
}

/// The same without further system calls, which fail with `error`; openat2 must be among them.
pub(crate) fn without(calls: &[u32], error: u32, command: &Command) -> Option<Command> {
    let calls: Vec<_> = calls.iter().map(u32::to_string).collect();
    let filter = ["-e".to_owned(), WITHOUT.to_owned(), calls.join(","), error.to_string()];
    let mut wrapped = Command::new("perl");
    wrapped.args(&filter).arg(command.get_program()).args(command.get_args());
    let mut check = Command::new("perl");
    check.args(&filter);
    check.args([env!("CARGO_BIN_EXE_mcp-fs"), "--check", env!("CARGO_MANIFEST_DIR")]);
    let report = check.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !report.is_ok_and(|report| report.contains("cap-std")) {
        skipped("a kernel without openat2", "perl or seccomp is not there");
        return None;
    }
    wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(wrapped)
}

fn start(tree: &Tree) -> Option<Process> {
    without_openat2(&command([tree.path()])).map(|command| Process::start(command).legacy(LATEST_LEGACY))
}

/// Without the second wall, which would also hold.
fn nothing_outside_is_read(error: u32) {
    let tree = escapes::tree();
    for operation in OPERATIONS.into_iter().chain([SUBSCRIBE]) {
        let server = command(["--sandbox=off".as_ref(), tree.path().as_os_str()]);
        let Some(server) = without(&[OPENAT2], error, &server) else { return };
        escapes::no_attempt_succeeds(&tree, Process::start(server).legacy(LATEST_LEGACY), operation);
    }
}

#[test]
fn nothing_outside_is_read_if_the_kernel_has_no_openat2() {
    nothing_outside_is_read(ENOSYS);
}

#[test]
fn nothing_outside_is_read_if_a_sandbox_refuses_openat2() {
    nothing_outside_is_read(EPERM);
}

#[test]
fn files_inside_are_served_without_openat2() {
    let tree = Tree::new()
        .file("inside.txt", "inside\n")
        .file("inner/leaf.txt", "inside\n")
        .link("in", "inner/../inside.txt")
        .link("in-dir", "{root}/inner");
    let Some(mut process) = start(&tree) else { return };
    for operation in FILE_OPERATIONS {
        for path in ["inside.txt", "inner/leaf.txt", "in", "in-dir/leaf.txt", "inner/../in"] {
            let answer = ask(&mut process, &tree, operation, &asked(&tree, operation, path));
            assert!(!answer.is_refusal() && answer.words().contains("inside\n"), "{operation} {path}: {answer:?}");
        }
    }
    for operation in DIRECTORY_OPERATIONS {
        for path in ["inner", "in-dir"] {
            let answer = ask(&mut process, &tree, operation, path);
            assert!(!answer.is_refusal() && answer.words().contains("leaf.txt"), "{operation} {path}: {answer:?}");
        }
    }
    let listed = process.result("resources/list", serde_json::json!({}));
    assert_eq!(listed["resources"].as_array().expect("resources").len(), 2, "{listed}");
}

#[test]
fn a_fifo_is_refused_without_openat2() {
    let tree = Tree::new().fifo("pipe").link("to-pipe", "pipe").fifo("inner/pipe");
    let Some(mut process) = start(&tree) else { return };
    for operation in FILE_OPERATIONS {
        for path in ["pipe", "to-pipe", "inner/pipe"] {
            let answer = ask(&mut process, &tree, operation, path);
            assert!(answer.is_refusal() && answer.words().contains("a FIFO"), "{operation} {path}: {answer:?}");
        }
    }
}

#[test]
fn denied_names_are_refused_without_openat2() {
    let tree = Tree::new().file(".env", crate::support::SECRET_MARKER).link("to-env", ".env");
    let Some(mut process) = start(&tree) else { return };
    for operation in OPERATIONS {
        for path in [".env", "to-env"] {
            let answer = ask(&mut process, &tree, operation, path);
            assert!(answer.is_refusal() && answer.words().contains("denied"), "{operation} {path}: {answer:?}");
        }
    }
}
