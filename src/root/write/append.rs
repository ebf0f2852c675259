//! More at the end of a file, at the cost of what is added. It is the one change that happens in place: a process that
//! is killed in the middle may leave a part of it, and a file with several names is refused, as all would change.

use std::fs::File;
use std::io::{self, Write as _};

use cap_std::fs::OpenOptions;

use super::pieces::write_all;
use super::replace::{must_match, open_in};
use super::{Replace, WritableRoot, WriteError, Written};
use crate::cancel::Cancel;
use crate::root::Asked;
use crate::root::open::{PIECE, regular};
use crate::root::stat::Stat;

impl WritableRoot {
    /// Adds to the end of a file, or creates it.
    pub fn append(&self, asked: &Asked, new: Replace<'_>, cancel: &Cancel) -> Result<Written, WriteError> {
        Self::persist(|| {
            let (place, _turn) = self.place_of(asked, new, cancel)?;
            let Some(stat) = place.look()? else {
                must_match(None, new.if_match)?;
                return self.put(&place, None, false, |file| write_all(file, new.content, cancel));
            };
            regular(stat.kind)?;
            let mut file = open_in(&place, OpenOptions::new().append(true))?;
            let stat = Stat::from(&file.metadata()?);
            if stat.names() > 1 {
                return Err(WriteError::AppendHardLinked(stat.names()));
            }
            must_match(Some(&stat), new.if_match)?;
            add(&mut file, stat.size, new.content, cancel)?;
            if self.durable {
                file.sync_all().map_err(WriteError::unconfirmed)?;
            }
            Ok(Written::of(place.path, &Stat::from(&file.metadata()?), false))
        })
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
