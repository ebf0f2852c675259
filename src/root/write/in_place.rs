//! A file whose name cannot be given to another one, because something is mounted there: its content is overwritten in
//! place. A reader, or a kill midway, may see a mixture of old and new; the answer says so ([`super::Caveats`]).

use std::fs::File;
use std::io::{Read, Write as _};

use cap_std::fs::OpenOptions;

use super::old::{Old, Since, open_in};
use super::place::Place;
use super::replace::Expected;
use super::{Caveats, WritableRoot, WriteError, Written};
use crate::root::open::PIECE;
use crate::root::stat::Stat;
use crate::root::sys;
use crate::runtime::cancel::Cancel;

impl WritableRoot {
    /// Gives the file at a mount point the `size` bytes of `source`. Whatever can fail is tried before the first byte
    /// is written; from then on it is finished, even if cancelled.
    pub(super) fn overwrite(
        &self,
        place: &Place,
        old: &Old,
        expected: Expected,
        source: &mut dyn Read,
        size: u64,
        cancel: &Cancel,
    ) -> Result<Written, WriteError> {
        if old.stat.names() > 1 {
            return Err(WriteError::HardLinked(old.stat.names()));
        }
        let mut file = open_in(place, OpenOptions::new().write(true))?;
        let is_old = Stat::of(&file)?.is_same_file(&old.stat);
        let is_expected = match expected {
            Expected::Anything => true,
            Expected::Same { read } | Expected::SameOrLonger { read } => old.since(read)? == Since::Nothing,
        };
        if !is_old || !is_expected {
            return Err(WriteError::Raced);
        }
        cancel.check()?;
        sys::change::reserve(&file, size)?;
        sys::change::clear_set_id(&file)?;
        fill(&mut file, source, size, cancel).map_err(|error| WriteError::PartlyWritten(Box::new(error)))?;
        if self.durable {
            file.sync_all().map_err(WriteError::unconfirmed)?;
        }
        let caveats = Caveats { in_place: true, other_names: 0 };
        Ok(Written { caveats, ..Written::of(place.path.clone(), &Stat::of(&file)?, false) })
    }
}

fn fill(file: &mut File, source: &mut dyn Read, size: u64, cancel: &Cancel) -> Result<(), WriteError> {
    let mut piece = vec![0; PIECE.min(size as usize)];
    let mut written = 0;
    while written < size {
        // Only counts as a step.
        let _ = cancel.checkpoint();
        let most = piece.len().min((size - written) as usize);
        match source.read(&mut piece[..most])? {
            0 => break,
            read => {
                file.write_all(&piece[..read])?;
                written += read as u64;
            }
        }
    }
    file.set_len(written)?;
    if written < size { Err(WriteError::Raced) } else { Ok(()) }
}
