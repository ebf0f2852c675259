//! Changing what is in the served directory. Everything that does goes through [`WritableRoot`], and that exists only
//! with `--allow-write`: [`Root`] itself has no method that changes anything.
//!
//! Paths are resolved as for reading, and denied the same way; then the directory is opened through the root, without
//! links, and what is changed is one name in it. If something is swapped in between, the opening fails.
//!
//! | module | answers |
//! | --- | --- |
//! | [`place`] | where is a path to be written really? What is there? Which directories are made on the way? Which names may not be written? |
//! | [`replace`] | a whole new content, or nothing; [`append`]: more at the end |
//! | [`rename`], [`copy`], [`delete`] | a name is moved, doubled, gone; [`tree`]: with all below it |
//! | [`pieces`] | how is a content read and written, and stopped? |
//! | [`temporary`] | how does a file appear at once? What do killed writes leave? |
//! | [`old`], [`path_locks`] | is it still the file that was read? Which write comes first? |
//! | [`lock`], [`exchange`] | the same for other servers, and for programs that do not lock |
//! | [`in_place`] | what of a name that cannot be given to another file? |
//! | [`error`] | why not? |

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

/// The served directory, to be changed.
#[derive(Debug)]
pub struct WritableRoot {
    root: Arc<Root>,
    /// Whether a change is on the disk before it is reported.
    durable: bool,
    path_locks: PathLocks,
    protect: Protect,
    cleaned: Cleaned,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where it really is: without links and `..`.
    pub path: RelPath,
    /// The size of the file now.
    pub size: u64,
    /// Nothing was there before.
    pub created: bool,
    /// Of what is there now.
    pub version: Version,
    /// What there is to know besides.
    pub caveats: Caveats,
}

/// What a client should know of how a file was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caveats {
    /// Something is mounted at its name, so it was overwritten where it is: not in one step.
    pub in_place: bool,
    /// Other names that the file had (hard links). They keep the old content.
    pub other_names: u64,
}

impl WritableRoot {
    /// Permits changes to what `root` serves, but for what has a name of `protect`. If they are to be `durable`, they
    /// survive a power cut once they are reported.
    pub fn new(root: Arc<Root>, protect: Protect, durable: bool) -> Self {
        Self { root, durable, path_locks: PathLocks::default(), protect, cleaned: Cleaned::default() }
    }

    /// The directory, to be read.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Tries again where another program was faster, such as in creating the same file. Not for ever.
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
