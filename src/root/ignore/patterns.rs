//! The patterns of one ignore file: read within limits, counted, and compiled with git's meaning.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::named::Named;
use super::syntax;
use crate::root::listing::Listing;
use crate::root::path::RelPath;
use crate::root::{Root, RootError};
use crate::runtime::cancel::Cancel;

/// A larger file is not applied: a compiled pattern takes hundreds of times the space of its text.
const MAX_FILE: u64 = 32 << 10;
/// A file with more patterns is not applied.
const MAX_PATTERNS: usize = 1_000;

/// Git skips it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of an ignore file, and how much of it is patterns.
pub(super) struct Patterns {
    text: String,
    pub(super) count: usize,
    pub(super) bytes: usize,
}

impl Patterns {
    pub(super) fn read(root: &Root, path: RelPath, cancel: &Cancel) -> Result<Self, String> {
        let mut text = read(root, path, cancel).map_err(|error| error.to_string())?;
        if text.starts_with(BYTE_ORDER_MARK) {
            text.remove(0);
        }
        let mut patterns = Self { text, count: 0, bytes: 0 };
        for line in patterns.text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            patterns.count += 1;
            patterns.bytes += line.len();
        }
        if patterns.count > MAX_PATTERNS {
            return Err(format!("it has more than {MAX_PATTERNS} patterns"));
        }
        Ok(patterns)
    }

    /// Compiles the patterns, except for those that hide all of a named directory.
    pub(super) fn compile(&self, named: Option<&Named<'_>>, listing: &Listing) -> Result<Gitignore, String> {
        let all = compile(self.text.lines())?;
        match named {
            Some(named) if named.is_hidden_by(&all, listing) => {
                let is_meant = |line: &&str| compile([*line]).is_ok_and(|one| named.is_meant_by(&one));
                compile(self.text.lines().filter(|line| !is_meant(line)))
            }
            _ => Ok(all),
        }
    }
}

fn compile<'l>(lines: impl IntoIterator<Item = &'l str>) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for line in lines {
        // An invalid pattern matches nothing, as in git.
        let _ = builder.add_line(None, &syntax::as_git_reads(line));
    }
    builder.build().map_err(|_| "its patterns cannot be compiled".to_owned())
}

fn read(root: &Root, path: RelPath, cancel: &Cancel) -> Result<String, RootError> {
    let file = root.open_real_file(path)?;
    if file.stat.size > MAX_FILE {
        return Err(RootError::Io(format!("it is larger than {MAX_FILE} bytes")));
    }
    let mut bytes = vec![0; file.stat.size as usize];
    let length = file.read_at(&mut bytes, 0, cancel)?;
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
