//! File systems of every kind that this machine can mount, inside the served directory: those that hold files are
//! served, and those of the kernel are neither read, entered nor changed, whether or not they are known.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{OPERATIONS, ask, skipped};
use crate::support::{Client, LATEST_LEGACY, Process, Tree, command};

/// Mounts one of each kind at `$0/KIND`, and becomes the server. Removes the directory of a kind that cannot be
/// mounted.
const MOUNTED: &str = r#"
    tree=$0
    for kind in $KINDS; do mount -t "$kind" none "$tree/$kind" 2>/dev/null || rmdir "$tree/$kind"; done
    for kind in $IMAGES; do
        truncate -s 16M "$tree/../$kind.img" && "mkfs.$kind" -q "$tree/../$kind.img" >/dev/null 2>&1 &&
        mount -o loop "$tree/../$kind.img" "$tree/$kind" 2>/dev/null || rmdir "$tree/$kind"
    done
    if [ -d "$tree/overlay" ]; then
        mkdir -p "$tree/tmpfs/lower" "$tree/tmpfs/upper" "$tree/tmpfs/work"
        options="lowerdir=$tree/tmpfs/lower,upperdir=$tree/tmpfs/upper,workdir=$tree/tmpfs/work"
        mount -t overlay -o "$options" none "$tree/overlay" 2>/dev/null || rmdir "$tree/overlay"
    fi
    exec "$@"
"#;

/// Kinds without a disk that hold files or, like devtmpfs, report a type that does.
const HOLD_FILES: [&str; 5] = ["tmpfs", "ramfs", "overlay", "devtmpfs", "autofs"];

/// Files by which a kernel file system can be abused.
const INSIDE: [&str; 6] = ["register", "status", "ptmx", "cgroup.procs", "version", "new"];

/// The kinds that need no disk, from the kernel's list.
fn kinds_without_disk() -> Vec<String> {
    let kinds = fs::read_to_string("/proc/filesystems").expect("Linux says which it knows");
    kinds.lines().filter_map(|line| line.strip_prefix("nodev\t")).map(str::to_owned).collect()
}

/// A server of a tree in which they are mounted, each at its name; and the names.
fn serve(kinds: &[String], images: &[&str], tree: &Tree) -> Option<(Process, Vec<String>)> {
    let may_mount = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    if !may_mount {
        skipped("file systems mounted inside the directory", "mounting is not permitted");
        return None;
    }
    let all: Vec<&str> = kinds.iter().map(String::as_str).chain(images.iter().copied()).collect();
    for kind in &all {
        fs::create_dir(tree.join(kind)).expect("a mount point");
    }
    let server = command([tree.path().as_os_str(), "--allow-write".as_ref()]);
    let mut wrapped = Command::new("unshare");
    wrapped.args(["-m", "sh", "-c", MOUNTED]).arg(tree.path()).arg(server.get_program()).args(server.get_args());
    let plain: Vec<&str> = kinds.iter().map(String::as_str).filter(|kind| *kind != "overlay").collect();
    wrapped.env("KINDS", plain.join(" ")).env("IMAGES", images.join(" "));
    wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let process = Process::start(wrapped).legacy(LATEST_LEGACY);
    let (mounted, others): (Vec<&str>, Vec<&str>) = all.into_iter().partition(|kind| tree.join(kind).exists());
    if !others.is_empty() {
        skipped(&others.join(", "), "cannot be mounted here");
    }
    Some((process, mounted.into_iter().map(str::to_owned).collect()))
}

#[test]
fn no_kernel_file_system_that_can_be_mounted_is_served() {
    let tree = Tree::new().file("plain.txt", "plain\n");
    let kinds: Vec<_> = kinds_without_disk().into_iter().filter(|kind| !HOLD_FILES.contains(&kind.as_str())).collect();
    let Some((mut process, mounted)) = serve(&kinds, &[], &tree) else { return };
    assert!(mounted.len() >= 3, "only {mounted:?} could be mounted");
    for kind in &mounted {
        for operation in OPERATIONS {
            for path in [kind.clone(), format!("{kind}/")] {
                let answer = ask(&mut process, &tree, operation, &path);
                let says_why = answer.words().contains("file system");
                assert!(answer.is_refusal() && says_why, "{operation} {path}: {answer:?}");
            }
        }
        for name in INSIDE {
            let path = format!("{kind}/{name}");
            let error = process.tool_error("write_file", json!({"path": path, "content": ":a:M::b::/c:"}));
            assert!(error.contains("file system"), "{path}: {error}");
        }
        process.tool_error("create_directory", json!({"path": format!("{kind}/made")}));
        process.tool_error("move_file", json!({"source": "plain.txt", "destination": format!("{kind}/moved")}));
    }
    let shown = process.tool_text("directory_tree", json!({"includeIgnored": true}));
    assert_eq!(shown.matches("file system").count(), mounted.len(), "{shown}");
    let listed = process.result("resources/list", json!({}));
    assert_eq!(listed["resources"].as_array().expect("a list").len(), 1, "{listed}");
}

#[test]
fn file_systems_that_hold_files_are_served() {
    let tree = Tree::new();
    let kinds = ["tmpfs", "ramfs", "overlay"].map(str::to_owned);
    let Some((mut process, mounted)) = serve(&kinds, &["ext2", "ext4", "xfs", "btrfs", "minix"], &tree) else { return };
    assert!(mounted.contains(&"tmpfs".to_owned()), "{mounted:?}");
    for kind in mounted {
        let path = format!("{kind}/dir/file.txt");
        process.tool_text("write_file", json!({"path": path, "content": "kept\n", "createParents": true}));
        assert_eq!(process.tool_text("read_text_file", json!({"path": path})), "kept\n", "{kind}");
        assert!(process.tool_text("search_files", json!({"pattern": "file.txt"})).contains(&path), "{kind}");
    }
}
