//! Sizes and times of a directory's entries, from its listing. Opening each entry would take about as long as listing a
//! thousand.
//!
//! A file that is being written, or that has several names, may be longer than the listing says.

use std::collections::HashMap;
use std::fs::{self, File};
use std::sync::OnceLock;

use winx::file::get_file_path;

use crate::root::stat::{Kind, Stat};

/// How many entries are kept; others are opened one by one.
const MOST: usize = 20_000;

/// The listing of one directory, once it has been read.
#[derive(Debug, Default)]
pub(in crate::root) struct Facts(OnceLock<HashMap<Box<[u8]>, Stat>>);

impl Facts {
    /// What the listing says about an entry, without the identity of its file. `None` if only the entry itself can
    /// tell.
    pub(in crate::root) fn of(&self, dir: &File, name: &[u8]) -> Option<Stat> {
        self.0.get_or_init(|| read(dir).unwrap_or_default()).get(name).cloned()
    }
}

fn read(dir: &File) -> std::io::Result<HashMap<Box<[u8]>, Stat>> {
    let entries = fs::read_dir(get_file_path(dir)?)?.take(MOST).filter_map(Result::ok);
    let fact = |entry: fs::DirEntry| Some((entry.file_name().as_encoded_bytes().into(), stat_of(&entry)?));
    Ok(entries.filter_map(fact).collect())
}

fn stat_of(entry: &fs::DirEntry) -> Option<Stat> {
    let metadata = entry.metadata().ok()?;
    let kind = super::kind_of(metadata.file_type());
    // A link has to be examined itself.
    (kind != Kind::Link).then(|| Stat {
        kind,
        size: metadata.len(),
        modified: metadata.modified().ok(),
        accessed: metadata.accessed().ok(),
        created: metadata.created().ok(),
        mode: if metadata.permissions().readonly() { 0o444 } else { 0o666 },
        device: 0,
        inode: 0,
        links: 1,
    })
}
