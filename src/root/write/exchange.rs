//! A new file replaces an old one by swapping their names, and the file that came out is examined. If another program
//! has put a different file there at the last moment, that is noticed, and the file goes back. Only this detects
//! programs that do not lock, such as editors that save by renaming.
//!
//! Whatever fails, a file of another program is never removed. One that cannot be put back gets a name of its own,
//! which [`Temporary`] never cleans up and `--check` reports.

use std::ffi::OsStr;
use std::io;

use super::WriteError;
use super::temporary::Temporary;
use crate::root::stat::Stat;
use crate::root::sys;

/// The ending of the name of a displaced file.
const DISPLACED: &str = ".displaced";
/// How often the swap back is tried while another program keeps replacing the file.
const ATTEMPTS: usize = 64;

/// Whether this is the name of a file that a write displaced and could not put back.
pub(crate) fn is_displaced(name: &[u8]) -> bool {
    let random = name.strip_prefix(b".mcp-fs-").and_then(|rest| rest.strip_suffix(DISPLACED.as_bytes()));
    random.is_some_and(|random| random.len() == 16 && random.iter().all(u8::is_ascii_hexdigit))
}

impl Temporary<'_> {
    /// Swaps its name with that of another file, and returns the facts about that one, which keeps the temporary name
    /// until [`Self::discard`] or [`Self::put_back`]. `None` if names cannot be swapped; nothing has changed then.
    pub(super) fn exchange(&mut self, name: &OsStr) -> Result<Option<Stat>, WriteError> {
        match self.swap(name) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(WriteError::Raced),
            swapped => swapped?,
        }
        self.keeps_name = true;
        match self.look() {
            Ok(out) => Ok(Some(out)),
            // It may be another program's file.
            Err(error) => Err(self.set_aside().unwrap_or_else(|| error.into())),
        }
    }

    /// Removes the file that came out of the swap.
    pub(super) fn discard(mut self) {
        self.keeps_name = false;
    }

    /// Swaps the names back and removes the new file, whose facts were `ours` before it got the name. Whatever another
    /// program does to the name meanwhile counts as later, and wins.
    pub(super) fn put_back(self, name: &OsStr, ours: &Stat) -> Result<(), WriteError> {
        let mut given = ours.clone();
        for _ in 0..ATTEMPTS {
            let Ok(held) = self.look() else { break };
            if self.swap(name).is_err() {
                break;
            }
            match self.look() {
                // The file that had the name came out again, so no other program has replaced it since. (A program that
                // still had it open would have lost it without us, too.)
                Ok(out) if out.is_same_file(&given) => {
                    let was_written_to = out.is_same_file(ours) && !out.has_content_of(ours);
                    if was_written_to {
                        break;
                    }
                    self.discard();
                    return Ok(());
                }
                Ok(_) => given = held,
                Err(_) => break,
            }
        }
        self.set_aside().map_or(Ok(()), Err)
    }

    fn swap(&self, name: &OsStr) -> io::Result<()> {
        sys::change::exchange((self.dir, OsStr::new(&self.name)), (self.dir, name))
    }

    fn look(&self) -> io::Result<Stat> {
        Ok(Stat::from(&self.dir.symlink_metadata(&self.name)?))
    }

    /// Gives the file with the temporary name a permanent one, and returns the error that says so. `None` if there is
    /// no such file.
    fn set_aside(&self) -> Option<WriteError> {
        let kept = self.name.replace(super::temporary::SUFFIX, DISPLACED);
        let (from, to) = ((self.dir, OsStr::new(&self.name)), (self.dir, OsStr::new(&kept)));
        match sys::change::rename_new(from, to) {
            Ok(()) => Some(WriteError::Displaced(kept)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => Some(WriteError::Displaced(self.name.clone())),
        }
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;

    use cap_std::fs::Dir;

    use super::super::temporary::{Cleaned, Readers};
    use super::*;

    /// A directory with a file `a` that says "old", with which the new file has just been swapped.
    fn swapped(test: impl FnOnce(&Path, Temporary<'_>, &Stat)) -> Vec<(String, String)> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        fs::write(path.join("a"), "old").expect("a file");
        let dir = Dir::from_std_file(fs::File::open(path).expect("a directory"));
        let mut new = Temporary::create(&dir, Readers::Owner, &Cleaned::default()).expect("a file");
        new.file.write_all(b"new").expect("room");
        let ours = new.stat().expect("its facts");
        let old = Stat::from(&fs::metadata(path.join("a")).expect("a file"));
        let out = new.exchange("a".as_ref()).expect("a swap").expect("this file system swaps");
        assert!(out.is_same_file(&old) && fs::read(path.join("a")).expect("a file") == b"new");
        test(path, new, &ours);
        let entries = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path());
        let name = |path: &Path| path.file_name().expect("a name").to_str().expect("text").to_owned();
        entries.map(|path| (name(&path), fs::read_to_string(&path).expect("a file"))).collect()
    }

    /// Saves like an editor.
    fn save(path: &Path, content: &str) {
        fs::write(path.join("a~"), content).expect("a file");
        fs::rename(path.join("a~"), path.join("a")).expect("a save");
    }

    fn is(left: &[(String, String)], content: &str) {
        assert_eq!(left, [("a".to_owned(), content.to_owned())]);
    }

    #[test]
    fn what_came_out_goes_or_is_put_back() {
        is(&swapped(|_, new, _| new.discard()), "new");
        is(&swapped(|_, new, ours| new.put_back("a".as_ref(), ours).expect("it goes back")), "old");
    }

    #[test]
    fn a_save_while_names_are_swapped_is_the_later_one() {
        let left = swapped(|path, new, ours| {
            save(path, "saved");
            new.put_back("a".as_ref(), ours).expect("the save stays");
        });
        is(&left, "saved");
    }

    /// A file that came out and cannot go back keeps a name, and so does what another program has turned ours into.
    #[test]
    fn no_file_of_another_program_is_removed() {
        let displaced = |content: &str, left: &[(String, String)], error: &WriteError| {
            let WriteError::Displaced(kept) = error else { panic!("{error:?}") };
            assert!(is_displaced(kept.as_bytes()), "{kept}");
            assert!(left.contains(&(kept.clone(), content.to_owned())), "{left:?}");
        };
        let mut error = None;
        let left = swapped(|path, new, ours| {
            fs::remove_file(path.join("a")).expect("a file");
            error = new.put_back("a".as_ref(), ours).err();
        });
        displaced("old", &left, &error.take().expect("nothing to swap with"));
        assert_eq!(left.len(), 1);
        let left = swapped(|path, new, ours| {
            fs::write(path.join("a"), "written into ours").expect("a file");
            error = new.put_back("a".as_ref(), ours).err();
        });
        displaced("written into ours", &left, &error.take().expect("ours is not ours alone"));
        assert!(left.contains(&("a".to_owned(), "old".to_owned())), "{left:?}");
    }

    #[test]
    fn displaced_names_are_told_from_others() {
        assert!(is_displaced(b".mcp-fs-0123456789abcdef.displaced"));
        for name in
            [".mcp-fs-0123456789abcdef.tmp", ".mcp-fs-.displaced", "a.displaced", ".mcp-fs-0123456789abcdeg.displaced"]
        {
            assert!(!is_displaced(name.as_bytes()), "{name}");
        }
    }
}
