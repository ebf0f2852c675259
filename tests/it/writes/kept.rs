//! The metadata of a file survives replacing it, as far as the server's user may set it; and at no time can more people
//! read the file.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::json;

use super::{content, names, writing};
use crate::sandbox::skipped;
use crate::support::{Client, Tree, permissions_bind};

fn mode(tree: &Tree, path: &str) -> u32 {
    fs::metadata(tree.join(path)).expect("a file").permissions().mode() & 0o7777
}

fn replace(tree: &Tree, path: &str) {
    writing(tree).tool_text("write_file", json!({"path": path, "content": "new\n"}));
    assert_eq!(content(tree, path), b"new\n");
}

#[test]
fn the_mode_is_kept_without_set_user_id() {
    for (bits, want) in [(0o755, 0o755), (0o600, 0o600), (0o646, 0o646), (0o4755, 0o755), (0o2775, 0o775)] {
        let tree = Tree::new().file("a", "old").mode("a", bits);
        replace(&tree, "a");
        assert_eq!(mode(&tree, "a"), want, "{bits:o}");
    }
}

#[test]
fn a_new_file_has_the_usual_mode() {
    let tree = Tree::new().file("any", "");
    replace(&tree, "a");
    assert_eq!(mode(&tree, "a"), mode(&tree, "any"));
}

/// Only root can create files of other users; for others it is their own file, which is the same test with less in it.
#[test]
fn the_owner_is_kept() {
    let tree = Tree::new().file("a", "old").mode("a", 0o640);
    let owner = |tree: &Tree| fs::metadata(tree.join("a")).map(|file| (file.uid(), file.gid())).expect("a file");
    if !permissions_bind() {
        std::os::unix::fs::chown(tree.join("a"), Some(1_234), Some(4_321)).expect("root gives files away");
    }
    let before = owner(&tree);
    replace(&tree, "a");
    assert_eq!((owner(&tree), mode(&tree, "a")), (before, 0o640));
}

/// A file of a group that the server's user is not in: the rights of the group become those of others.
#[test]
fn if_the_group_cannot_be_kept_it_gets_the_rights_of_others() {
    use crate::process::users::unprivileged;
    use crate::support::{LATEST_LEGACY, Process};

    let tree = Tree::new().file("a", "old").mode("a", 0o676);
    if permissions_bind() {
        skipped("a file of another group", "only root can make one");
        return;
    }
    std::os::unix::fs::chown(tree.join("a"), Some(65_534), Some(4_321)).expect("root gives files away");
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o777)).expect("a mode");
    let Some(command) = unprivileged(&tree, [tree.path().as_os_str(), "--allow-write".as_ref()]) else { return };
    let mut process = Process::start(command).legacy(LATEST_LEGACY);
    process.tool_text("write_file", json!({"path": "a", "content": "new"}));
    assert_eq!(mode(&tree, "a"), 0o666);
    assert_eq!(fs::metadata(tree.join("a")).unwrap().gid(), 65_534);
}

#[cfg(target_os = "linux")]
mod attributes {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    use rustix::io::Errno;

    use super::*;

    const ACL: &str = "system.posix_acl_access";

    fn set(tree: &Tree, path: &str, name: &str, value: &[u8]) -> bool {
        match setxattr(tree.join(path), name, value, XattrFlags::empty()) {
            Err(Errno::OPNOTSUPP) => {
                skipped(name, "the file system of the temporary directory does not have it");
                false
            }
            set => set.map(|()| true).expect("an attribute"),
        }
    }

    fn get(tree: &Tree, path: &str, name: &str) -> Result<Vec<u8>, Errno> {
        let mut value = vec![0; 1 << 10];
        let length = getxattr(tree.join(path), name, &mut value[..])?;
        value.truncate(length);
        Ok(value)
    }

    /// An access list: its version, then kind, rights and id of each entry. Owner, user 1234, group, mask, others.
    fn acl(owner: u8, user: u8, group: u8, mask: u8, others: u8) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0];
        let mut entry = |kind: u8, rights: u8, id: u32| {
            bytes.extend([kind, 0, rights, 0]);
            bytes.extend(id.to_le_bytes());
        };
        entry(1, owner, u32::MAX);
        entry(2, user, 1_234);
        entry(4, group, u32::MAX);
        entry(16, mask, u32::MAX);
        entry(32, others, u32::MAX);
        bytes
    }

    #[test]
    fn a_user_s_attributes_are_kept() {
        let tree = Tree::new().file("a", "old");
        if set(&tree, "a", "user.origin", b"https://example.org/\0\xff") && set(&tree, "a", "user.empty", b"") {
            replace(&tree, "a");
            assert_eq!(get(&tree, "a", "user.origin").unwrap(), b"https://example.org/\0\xff");
            assert_eq!(get(&tree, "a", "user.empty").unwrap(), b"");
        }
    }

    #[test]
    fn an_access_list_is_kept() {
        let tree = Tree::new().file("a", "old").mode("a", 0o640);
        let list = acl(6, 4, 0, 4, 0);
        if set(&tree, "a", ACL, &list) {
            replace(&tree, "a");
            assert_eq!(get(&tree, "a", ACL).unwrap(), list);
            assert_eq!(mode(&tree, "a"), 0o640);
        }
    }

    #[test]
    fn a_default_access_list_adds_no_readers_to_a_replaced_file() {
        let tree = Tree::new().file("d/a", "old").mode("d/a", 0o640);
        if set(&tree, "d", "system.posix_acl_default", &acl(7, 7, 5, 7, 5)) {
            replace(&tree, "d/a");
            assert_eq!(get(&tree, "d/a", ACL), Err(Errno::NODATA));
            assert_eq!(mode(&tree, "d/a"), 0o640);
        }
    }

    #[test]
    fn a_new_file_inherits_the_access_list_of_its_directory() {
        let tree = Tree::new().dir("d");
        if set(&tree, "d", "system.posix_acl_default", &acl(7, 6, 5, 7, 0)) {
            fs::write(tree.join("d/any"), "").unwrap();
            replace(&tree, "d/a");
            assert_eq!(get(&tree, "d/a", ACL), get(&tree, "d/any", ACL));
            assert_eq!(mode(&tree, "d/a"), mode(&tree, "d/any"));
        }
    }

    #[test]
    fn capabilities_are_not_kept() {
        if permissions_bind() {
            skipped("capabilities", "only root can give them to a file");
            return;
        }
        let tree = Tree::new().file("a", "old");
        // VFS_CAP_REVISION_2 with CAP_NET_RAW.
        let capability: Vec<u8> = [0x0200_0001_u32, 1 << 13, 0, 0, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
        if set(&tree, "a", "security.capability", &capability) {
            replace(&tree, "a");
            assert_eq!(get(&tree, "a", "security.capability"), Err(Errno::NODATA));
        }
    }
}

/// While it is written, nobody can read the new content who could not read the old.
#[test]
fn a_private_file_is_never_readable_by_others() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let tree = Tree::new().file("a", "old").mode("a", 0o600);
    let done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = Vec::new();
            while !done.load(Ordering::Relaxed) {
                for entry in fs::read_dir(tree.path()).unwrap().flatten() {
                    seen.extend(entry.metadata().map(|file| file.permissions().mode() & 0o777));
                }
            }
            seen.sort_unstable();
            seen.dedup();
            seen
        });
        let mut server = writing(&tree);
        for _ in 0..50 {
            server.tool_text("write_file", json!({"path": "a", "content": "x".repeat(100_000)}));
        }
        done.store(true, Ordering::Relaxed);
        watcher.join().expect("no panic")
    });
    assert_eq!(seen, [0o600]);
    assert_eq!(names(&tree, ""), ["a"]);
}
