//! More at the end of a file, at the cost of what is added. It is the one change that happens in place: a process that
//! is killed in the middle may leave a part of it, and a file with several names is refused, as all would change.

use std::fs::File;
use std::io::{self, Write as _};

use cap_std::fs::OpenOptions;

use super::pieces::write_all;
use super::place::Place;
use super::replace::{must_match, open_in};
use super::{Ends, Replace, Updated, WritableRoot, WriteError, Written};
use crate::cancel::Cancel;
use crate::root::open::{PIECE, regular};
use crate::root::stat::Stat;
use crate::root::{Asked, RootError};

impl WritableRoot {
    /// Adds to the end of a file, or creates it. `fit` is shown the ends of the file that is added to, and may give other
    /// bytes for the content; nothing in this server comes between. It is not asked about a new file, nor about one that
    /// may be written and not be read.
    ///
    /// The inner error is the one of `fit`, and nothing was written then.
    pub fn append<T: Default, E>(
        &self,
        asked: &Asked,
        new: Replace<'_>,
        cancel: &Cancel,
        fit: impl Fn(&Ends) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Result<Updated<T>, E>, WriteError> {
        Self::persist(|| {
            let (place, _turn) = self.place_of(asked, new, cancel)?;
            let Some(stat) = place.look()? else {
                must_match(None, new.if_match)?;
                let written = self.put(&place, None, false, |file| write_all(file, new.content, cancel))?;
                return Ok(Ok(Updated { value: T::default(), written }));
            };
            regular(stat.kind)?;
            let (mut file, may_read) = open_to_append(&place)?;
            let stat = Stat::from(&file.metadata()?);
            if stat.names() > 1 {
                return Err(WriteError::AppendHardLinked(stat.names()));
            }
            must_match(Some(&stat), new.if_match)?;
            let ends = may_read.then(|| Ends::read(&file, stat.size)).transpose()?;
            let (other, value) = match ends.as_ref().map_or_else(|| Ok((None, T::default())), &fit) {
                Ok(made) => made,
                Err(error) => return Ok(Err(error)),
            };
            add(&mut file, stat.size, other.as_deref().unwrap_or(new.content), cancel)?;
            if self.durable {
                file.sync_all().map_err(WriteError::unconfirmed)?;
            }
            let written = Written::of(place.path, &Stat::from(&file.metadata()?), false);
            Ok(Ok(Updated { value, written }))
        })
    }
}

/// Opens a file to add to it, and to read it where that is allowed: what may be written and not be read takes more, too.
fn open_to_append(place: &Place) -> Result<(File, bool), WriteError> {
    match open_in(place, OpenOptions::new().read(true).append(true)) {
        Err(WriteError::Root(RootError::PermissionDenied)) => {
            Ok((open_in(place, OpenOptions::new().append(true))?, false))
        }
        file => Ok((file?, true)),
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
