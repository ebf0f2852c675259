//! More at the end of a file, at the cost of what is added. It is the one change that happens in place: what goes
//! wrong in the middle may leave a part of it, and a file with several names is refused, as all would change.

use std::io::Write as _;

use cap_std::fs::OpenOptions;

use super::replace::{must_be_regular, must_match, open_in};
use super::{Replace, WritableRoot, WriteError, Written};
use crate::cancel::Cancel;
use crate::root::Asked;
use crate::root::resolve::LastLink;
use crate::root::stat::Stat;

impl WritableRoot {
    /// Adds to the end of a file, or creates it.
    pub fn append(&self, asked: &Asked, new: Replace<'_>, cancel: &Cancel) -> Result<Written, WriteError> {
        Self::persist(|| {
            let target = self.target(asked, LastLink::Followed)?;
            target.must_name_a_file()?;
            let _turn = self.turns.take(&[&target.path], cancel)?;
            let place = self.place(&target, new.parents)?;
            let Some(stat) = place.look()? else {
                must_match(None, new.if_match)?;
                return self.put(&place, None, false, |file| Ok(file.write_all(new.content)?));
            };
            must_be_regular(stat.kind)?;
            let mut file = open_in(&place, OpenOptions::new().append(true))?;
            let stat = Stat::from(&file.metadata()?);
            if stat.names() > 1 {
                return Err(WriteError::AppendHardLinked(stat.names()));
            }
            must_match(Some(&stat), new.if_match)?;
            file.write_all(new.content)?;
            if self.durable {
                file.sync_all()?;
            }
            Ok(Written::of(place.path, &Stat::from(&file.metadata()?), false))
        })
    }
}
