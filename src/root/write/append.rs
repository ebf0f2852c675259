//! More at the end of a file, at the cost of what is added. It is the one change that happens in place: a process that
//! is killed in the middle may leave a part of it, and a file with several names is refused, as all would change.

use std::fs::File;
use std::io::{self, Write as _};

use cap_std::fs::OpenOptions;

use super::lock::open_locked;
use super::old::{must_match, open_in};
use super::place::Place;
use super::replace::Expected;
use super::{Replace, WritableRoot, WriteError, Written};
use crate::cancel::Cancel;
use crate::root::open::{PIECE, regular};
use crate::root::stat::Stat;
use crate::root::{Asked, sys};

impl WritableRoot {
    /// Adds to the end of a file, or creates it.
    pub fn append(&self, asked: &Asked, new: Replace<'_>, cancel: &Cancel) -> Result<Written, WriteError> {
        Self::persist(|| {
            let (place, _turn) = self.place_of(asked, new, cancel)?;
            let opened = open_locked(&place, cancel, |_| match place.look()? {
                None => Ok(None),
                Some(stat) => {
                    regular(stat.kind)?;
                    open_in(&place, OpenOptions::new().append(true)).map(Some)
                }
            })?;
            let Some((mut file, stat)) = opened else {
                must_match(None, new.if_match)?;
                return self.put(&place, None, Expected::Anything, new.content, cancel);
            };
            if stat.names() > 1 {
                return Err(WriteError::HardLinked(stat.names()));
            }
            must_match(Some(&stat), new.if_match)?;
            self.must_still_be(&place)?;
            sys::change::clear_set_id(&file)?;
            add(&mut file, stat.size, new.content, cancel)?;
            if self.durable {
                file.sync_all().map_err(WriteError::unconfirmed)?;
            }
            self.must_have_reached(&place, &file, stat.size, new.content)?;
            Ok(Written::of(place.path, &Stat::from(&file.metadata()?), false))
        })
    }

    /// Fails where another program has replaced the file meanwhile, so that what was added has no name any more, or the
    /// one of a backup. It is taken back there; trying again adds it to the file that has the name.
    fn must_have_reached(&self, place: &Place, file: &File, before: u64, content: &[u8]) -> Result<(), WriteError> {
        let now = Stat::from(&file.metadata()?);
        let has_name = place.look()?.is_some_and(|there| there.is_same_file(&now));
        if has_name && self.must_still_be(place).is_ok() {
            return Ok(());
        }
        if now.names() > 0 && now.size == before + content.len() as u64 {
            file.set_len(before)?;
        }
        Err(WriteError::Raced)
    }
}

/// Adds all of `content` to a file that was `before` bytes long, or takes back what got there: trying again must not
/// add it twice.
fn add(file: &mut File, before: u64, content: &[u8], cancel: &Cancel) -> Result<(), WriteError> {
    let mut written = 0;
    while written < content.len() {
        // A step, and no more: what was begun is done.
        let _ = cancel.is_cancelled();
        let end = content.len().min(written + PIECE);
        let error = match file.write(&content[written..end]) {
            Ok(0) => io::ErrorKind::WriteZero.into(),
            Ok(count) => {
                written += count;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        let is_ours = |length: u64| length == before + written as u64;
        let taken_back =
            written == 0 || (file.metadata().is_ok_and(|now| is_ours(now.len())) && file.set_len(before).is_ok());
        let error = WriteError::from(error);
        return Err(if taken_back { error } else { WriteError::PartlyAppended { written, error: Box::new(error) } });
    }
    Ok(())
}
