//! What is known about an entry without reading it.

use std::fmt;
use std::time::{Duration, SystemTime};

/// A file modified less than this long ago may be written again without a change of its times: most file systems count
/// them in steps of 10 ms or less. (Some old ones have steps of a second or two; there, the second of two writes within
/// one step that leave the same size can be missed.)
pub(super) const STEP: Duration = Duration::from_millis(20);

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, or on Windows any reparse point that acts like one.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device, or another kind of file that this system has.
    Other,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a link",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::Other => "a device or special file",
        })
    }
}

/// Kind, size, times and mode of an entry. A time is missing if the system does not record it.
#[derive(Clone, Debug)]
pub struct Stat {
    /// Its kind.
    pub kind: Kind,
    /// In bytes.
    pub size: u64,
    /// When its content last changed.
    pub modified: Option<SystemTime>,
    /// When it was last read, as far as the system records that.
    pub accessed: Option<SystemTime>,
    /// When it was created.
    pub created: Option<SystemTime>,
    /// Permission bits (the `0o777` part of `st_mode`); outside Unix 0o444 or 0o666.
    pub mode: u32,
    /// The device it is on; on Windows its volume.
    pub(super) device: u64,
    /// Its inode on that device.
    pub(super) inode: u64,
    /// The number of its names (hard links).
    pub(super) links: u64,
    /// When its content or metadata last changed, in nanoseconds.
    #[cfg(unix)]
    pub(super) changed: i128,
}

impl Stat {
    /// The facts about an open file.
    pub(super) fn of(file: &std::fs::File) -> std::io::Result<Self> {
        #[cfg(unix)]
        return Ok(Self::from(&file.metadata()?));
        // The standard library provides neither the file's number nor the number of its names.
        #[cfg(windows)]
        return Ok(Self::from(&cap_std::fs::Metadata::from_file(file)?));
    }

    /// Distinguishes it from another file of the same name: its inode.
    pub(super) fn identity(&self) -> u64 {
        self.inode
    }

    /// When its content or metadata last changed; if the system does not record that, when its content did.
    pub(super) fn last_change(&self) -> Option<SystemTime> {
        #[cfg(unix)]
        return u64::try_from(self.changed)
            .ok()
            .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(since)));
        #[cfg(not(unix))]
        return self.modified;
    }

    /// Whether both describe the same file, at whatever time.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.kind, self.on_device(), self.identity()) == (other.kind, other.on_device(), other.identity())
    }

    /// Whether the content is the same, judged by size and time.
    pub(super) fn has_content_of(&self, other: &Self) -> bool {
        (self.size, self.modified) == (other.size, other.modified)
    }

    /// Whether nobody may write to it.
    pub(super) fn is_read_only(&self) -> bool {
        self.mode & 0o222 == 0
    }

    /// The number of its names.
    pub(super) fn names(&self) -> u64 {
        self.links
    }

    /// The device it is on.
    pub(super) fn on_device(&self) -> u64 {
        self.device
    }
}

/// Seconds and nanoseconds as one number.
#[cfg(unix)]
pub(super) fn nanoseconds(seconds: i64, beyond: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(beyond)
}

/// `std::fs::Metadata` and cap-std's have the same methods but no trait in common.
macro_rules! stat_from {
    ($metadata:ty, $ext:path, $ext_type:path, $time:ty, $into_std:expr) => {
        impl From<&$metadata> for Stat {
            fn from(metadata: &$metadata) -> Self {
                use $ext as _;
                let std_time = |time: std::io::Result<$time>| time.ok().map($into_std);
                Self {
                    kind: {
                        #[cfg(unix)]
                        use $ext_type as _;
                        let kind = metadata.file_type();
                        if kind.is_file() {
                            Kind::File
                        } else if kind.is_dir() {
                            Kind::Directory
                        } else if kind.is_symlink() {
                            Kind::Link
                        } else {
                            #[cfg(unix)]
                            if kind.is_fifo() {
                                Kind::Fifo
                            } else if kind.is_socket() {
                                Kind::Socket
                            } else {
                                Kind::Other
                            }
                            #[cfg(not(unix))]
                            Kind::Other
                        }
                    },
                    size: metadata.len(),
                    modified: std_time(metadata.modified()),
                    accessed: std_time(metadata.accessed()),
                    created: std_time(metadata.created()),
                    #[cfg(unix)]
                    mode: metadata.mode() & 0o777,
                    #[cfg(not(unix))]
                    mode: if metadata.permissions().readonly() { 0o444 } else { 0o666 },
                    device: metadata.dev(),
                    inode: metadata.ino(),
                    links: metadata.nlink(),
                    #[cfg(unix)]
                    changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
                }
            }
        }
    };
}

#[cfg(unix)]
stat_from!(
    std::fs::Metadata,
    std::os::unix::fs::MetadataExt,
    std::os::unix::fs::FileTypeExt,
    SystemTime,
    std::convert::identity
);
#[cfg(unix)]
stat_from!(
    cap_std::fs::Metadata,
    cap_std::fs::MetadataExt,
    cap_std::fs::FileTypeExt,
    cap_std::time::SystemTime,
    cap_std::time::SystemTime::into_std
);
#[cfg(windows)]
stat_from!(
    cap_std::fs::Metadata,
    cap_fs_ext::MetadataExt,
    cap_std::fs::FileTypeExt,
    cap_std::time::SystemTime,
    cap_std::time::SystemTime::into_std
);
