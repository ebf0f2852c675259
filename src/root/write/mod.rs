//! Changes in the served directory. All of them go through [`WritableRoot`], which exists only with `--allow-write`:
//! [`Root`] itself has no method that changes anything.
//!
//! Paths are resolved as for reading, and denied in the same way. Then the parent directory is opened through the root,
//! without following links, and the change is made to one name in it. If something is swapped in between, opening
//! fails.
//!
//! | module | answers |
//! | --- | --- |
//! | [`place`] | where does the path to be written really lead, and what is there? Which parents are created? Which names may not be written? |
//! | [`replace`], [`append`] | new content, all or nothing; more content at the end |
//! | [`rename`], [`copy`], [`delete`], [`tree`] | a name is moved, copied or deleted; with everything below it |
//! | [`pieces`] | how is content read and written, and stopped? |
//! | [`temporary`] | how does a file appear in one step? What do killed writes leave behind? |
//! | [`old`], [`path_locks`] | is it still the file that was read? Which write comes first? |
//! | [`lock`], [`exchange`] | the same for other servers, and for programs that do not lock |
//! | [`in_place`] | what if the name cannot be given to another file? |
//! | [`error`] | why did it fail? |

mod append;
mod copy;
mod delete;
mod error;
mod exchange;
mod in_place;
mod lock;
mod old;
mod path_locks;
mod pieces;
mod place;
mod rename;
mod replace;
mod temporary;
mod tree;

use std::sync::Arc;

use self::path_locks::PathLocks;
use self::temporary::Cleaned;
use super::{Protect, RelPath, Root};

pub(crate) use self::append::Ends;
pub use self::copy::{Copied, CopyOptions};
pub use self::error::{Side, SideError, WriteError};
pub(crate) use self::exchange::is_displaced;
pub use self::old::Version;
pub use self::replace::{Replace, UpdateError, Updated};

/// The served directory for writing.
#[derive(Debug)]
pub struct WritableRoot {
    root: Arc<Root>,
    /// Whether a change reaches the disk before it is reported.
    durable: bool,
    path_locks: PathLocks,
    protect: Protect,
    cleaned: Cleaned,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its real path, without links and `..`.
    pub path: RelPath,
    /// The new size of the file.
    pub size: u64,
    /// The file did not exist before.
    pub created: bool,
    /// The version of the file now.
    pub version: Version,
    /// What else the client should know.
    pub caveats: Caveats,
}

/// What a client should know about how a file was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caveats {
    /// Something is mounted at its name, so it was overwritten in place and not in one step.
    pub in_place: bool,
    /// How many other names (hard links) the file had. They keep the old content.
    pub other_names: u64,
}

impl WritableRoot {
    /// Allows changes to what `root` serves, except for names that `protect` matches. With `durable`, a change survives
    /// a power cut once it is reported.
    pub fn new(root: Arc<Root>, protect: Protect, durable: bool) -> Self {
        Self { root, durable, path_locks: PathLocks::default(), protect, cleaned: Cleaned::default() }
    }

    /// The directory for reading.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Retries, a limited number of times, if another program was faster, for example in creating the same file.
    fn persist<T>(mut attempt: impl FnMut() -> Result<T, WriteError>) -> Result<T, WriteError> {
        const ATTEMPTS: usize = 8;
        for _ in 1..ATTEMPTS {
            match attempt() {
                Err(WriteError::Raced) => {}
                done => return done,
            }
        }
        attempt()
    }
}
