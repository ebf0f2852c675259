//! Which kinds of file systems are served: known ones that hold files, on disks, in memory or on a network.
//!
//! Linux has dozens of others, which show or change the state of the kernel and its processes: /proc reveals the
//! environment of this process, and a line written to `binfmt_misc` runs a program. Every few releases bring new ones.
//! The list is therefore of those that are served, and everything else is refused. The numbers are from linux/magic.h,
//! statfs(2), and the file systems' own sources.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs;
use rustix::io::{Errno, retry_on_intr};

use crate::root::RootError;

/// `f_type` of ext4, xfs, btrfs, tmpfs and overlayfs: local, so that opening and small reads do not block for long.
const QUICK: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630];

/// `f_type` of file systems that other machines or programs may change without this kernel knowing, and whose every
/// operation may be a round trip: networks, clusters, hosts of virtual machines, and FUSE.
#[rustfmt::skip]
const REMOTE: [u32; 26] = [
    0x6573_5546, 0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x564c, 0x00c3_6400, 0x0bd0_0bd0, 0x0116_1970, 0x7461_636f,
    0x2003_0528, 0x5346_414f, 0x6b41_4653, 0x7375_7245, 0x4750_4653, 0x1983_0326, 0xaad7_aaea, 0xbeef_dead, 0x0131_11a8,
    0x6163_6673, 0x0102_1997, 0x786f_4256, 0xbacb_acbc, 0x7c7c_6673, 0x5346_4846, 0x00c0_ffee,
];

/// `f_type` of the file systems that are served.
#[rustfmt::skip]
const SERVED: &[(u32, &str)] = &[
    // Disks
    (0xef53, "ext2, ext3, ext4"), (0xef51, "ext2, old"), (0x137d, "ext"), (0x5846_5342, "xfs"), (0x9123_683e, "btrfs"),
    (0x2fc1_2fc1, "zfs"), (0xca45_1a4e, "bcachefs"), (0xf2f5_2010, "f2fs"), (0x3153_464a, "jfs"),
    (0x5265_4973, "reiserfs"), (0x5234_5362, "reiser4"), (0x3434, "nilfs2"), (0x4d44, "vfat"), (0x4006, "fat"),
    (0x2011_bab0, "exfat"), (0x5346_544e, "ntfs"), (0x7366_746e, "ntfs3"), (0x4244, "hfs"), (0x482b, "hfsplus"),
    (0x4858, "hfsx"), (0x4253_584e, "apfs"), (0x9660, "iso9660"), (0x4004, "iso9660"), (0x4000, "iso9660"),
    (0x1501_3346, "udf"), (0x7371_7368, "squashfs"), (0xe0f5_e1e2, "erofs"), (0x28cd_3d45, "cramfs"),
    (0x453d_cd28, "cramfs"), (0x7275, "romfs"), (0x72b6, "jffs2"), (0x2405_1905, "ubifs"), (0x137f, "minix"),
    (0x138f, "minix"), (0x2468, "minix2"), (0x2478, "minix2"), (0x4d5a, "minix3"), (0x0001_1954, "ufs"),
    (0x5419_0100, "ufs"), (0x1954_0119, "ufs2"), (0xadf5, "adfs"), (0xadff, "affs"), (0x4246_5331, "befs"),
    (0x1bad_face, "bfs"), (0x0041_4a53, "efs"), (0xf995_e849, "hpfs"), (0x002f, "qnx4"), (0x6819_1122, "qnx6"),
    (0xa501_fcf5, "vxfs"), (0xc299_3d87, "omfs"), (0x012f_f7b5, "sysv"), (0x012f_f7b6, "sysv"), (0x012f_f7b7, "sysv"),
    // Memory
    (0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs"),
    // On top of others
    (0x794c_7630, "overlay"), (0x6175_6673, "aufs"), (0xf15f, "ecryptfs"), (0x5dca_2df5, "sdcardfs"),
    (0x6a65_6a62, "shiftfs"), (0x565a_4653, "vzfs"),
    // Programs: sshfs, rclone, JuiceFS, Gluster, ntfs-3g, virtiofs and many more
    (0x6573_5546, "fuse"),
    // Networks and clusters
    (0x6969, "nfs"), (0x517b, "smb"), (0xff53_4d42, "cifs"), (0xfe53_4d42, "smb2"), (0x564c, "ncp"),
    (0x00c3_6400, "ceph"), (0x0bd0_0bd0, "lustre"), (0x0116_1970, "gfs2"), (0x7461_636f, "ocfs2"),
    (0x2003_0528, "orangefs"), (0x5346_414f, "afs"), (0x6b41_4653, "afs"), (0x7375_7245, "coda"),
    (0x4750_4653, "gpfs"), (0x1983_0326, "beegfs"), (0xaad7_aaea, "panfs"), (0xbeef_dead, "snfs"),
    (0x0131_11a8, "ibrix"), (0x6163_6673, "acfs"),
    // The host of a virtual machine
    (0x0102_1997, "9p"), (0x786f_4256, "vboxsf"), (0xbacb_acbc, "vmhgfs"), (0x7c7c_6673, "prl_fs"),
    (0x5346_4846, "wslfs"), (0x00c0_ffee, "hostfs"),
    // Directories only, on which another one appears when it is entered
    (0x0187, "autofs"),
];

/// `f_type` of kernel file systems, to name them in errors. Any other is refused as well.
#[rustfmt::skip]
const KERNEL: &[(u32, &str)] = &[
    (0x9fa0, "proc"), (0x6265_6572, "sysfs"), (0x6462_6720, "debugfs"), (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"), (0xf97c_ff8c, "selinuxfs"), (0x4341_5d53, "smackfs"), (0x5a3c_69f0, "apparmorfs"),
    (0x0027_e0eb, "cgroup"), (0x6367_7270, "cgroup2"), (0x0765_5821, "resctrl"), (0x6265_6570, "configfs"),
    (0xcafe_4a11, "bpf"), (0x4249_4e4d, "binfmt_misc"), (0x6573_5543, "fusectl"), (0x1cd1, "devpts"),
    (0x1980_0202, "mqueue"), (0x6165_676c, "pstore"), (0xde5e_81e4, "efivarfs"), (0x6c6f_6f70, "binder"),
    (0x9584_58f6, "hugetlbfs"), (0x6e66_7364, "nfsd"), (0x6759_6969, "rpc_pipefs"), (0xabba_1974, "xenfs"),
    (0x9fa1, "openpromfs"), (0x9fa2, "usbfs"), (0x6e73_6673, "nsfs"), (0x5049_4446, "pidfs"), (0x5049_5045, "pipefs"),
    (0x534f_434b, "sockfs"), (0x0904_1934, "anon_inodefs"), (0x6264_6576, "bdev"), (0x444d_4142, "dmabuf"),
    (0x454d_444d, "devmem"), (0x5345_434d, "secretmem"), (0x1373, "devfs"),
];

/// Whether the file system is one that does not block for long.
pub(super) fn is_quick(file: &impl AsFd) -> Result<bool, Errno> {
    Ok(QUICK.contains(&number(file)?))
}

/// The name of the file system of an open file or directory, if it is a remote one.
pub(super) fn remote(file: &impl AsFd) -> Option<&'static str> {
    let number = number(file).ok().filter(|number| REMOTE.contains(number))?;
    SERVED.iter().find(|(served, _)| *served == number).map(|(_, name)| *name)
}

/// Fails if an open file or directory is on a file system that is not served.
pub(in crate::root) fn must_be_served(file: &impl AsFd) -> Result<(), RootError> {
    judge(number(file)?)
}

fn judge(number: u32) -> Result<(), RootError> {
    let is_in = |kinds: &[(u32, &str)]| kinds.iter().any(|(known, _)| *known == number);
    if is_in(SERVED) {
        return Ok(());
    }
    if is_in(KERNEL) {
        return Err(RootError::KernelFileSystem);
    }
    tell(number);
    Err(RootError::UnknownFileSystem(number))
}

fn number(file: &impl AsFd) -> Result<u32, Errno> {
    let kind = retry_on_intr(|| fs::fstatfs(file))?.f_type;
    // As wide as a register, and signed on some processors.
    #[allow(clippy::useless_conversion, reason = "not an i64 on every processor")]
    Ok((i64::from(kind) & 0xffff_ffff).unsigned_abs() as u32)
}

/// Logs an unknown number once, so that users can report it.
fn tell(number: u32) {
    static LAST: AtomicU32 = AtomicU32::new(0);
    if LAST.swap(number, Ordering::Relaxed) != number {
        tracing::warn!(
            "a file system of an unknown kind ({number:#x}) is not served; if it holds files, report this number"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_remote_kind_is_served() {
        for number in REMOTE {
            assert!(SERVED.iter().any(|(served, _)| *served == number), "{number:#x}");
        }
    }

    #[test]
    fn no_kind_is_in_two_lists_or_twice_in_one() {
        let mut numbers: Vec<u32> = SERVED.iter().chain(KERNEL).map(|(number, _)| *number).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
        assert!(QUICK.iter().all(|quick| SERVED.iter().any(|(number, _)| number == quick)));
    }

    #[test]
    fn what_is_not_known_is_refused_and_named_by_its_number() {
        assert_eq!(judge(0x6969), Ok(()));
        assert_eq!(judge(0x4249_4e4d), Err(RootError::KernelFileSystem));
        assert_eq!(judge(0x1234_5678), Err(RootError::UnknownFileSystem(0x1234_5678)));
    }

    #[test]
    fn the_directories_of_this_machine_are_what_they_are() {
        let open = |path: &str| std::fs::File::open(path).expect("a directory");
        assert_eq!(must_be_served(&open("/")), Ok(()));
        assert_eq!(must_be_served(&open("/proc")), Err(RootError::KernelFileSystem));
    }
}
