//! Finds the one entry that has the requested name in another spelling, if no entry has it exactly.
//!
//! Clients and copied archives write `é` as one character or as two, and models write a plain space for the narrow one
//! in the name of a macOS screenshot. Finding such an entry takes reading the whole directory. A lookup therefore holds
//! a [permit](Lookups), checks its [`Cancel`] on the way, and keeps only what it finds. A second lookup in a large
//! directory that has not changed does not read it again if it cannot succeed.

mod remembered;

use std::borrow::Cow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use unicode_normalization::UnicodeNormalization;

use self::remembered::{Hashes, Remembered};
use super::path::RelPath;
use super::{Root, RootError};
use crate::runtime::cancel::{Cancel, Cancelled, PATIENCE};

/// Directories that are read for lookups at once. The watching thread may hold one permit for ever, if it is stuck.
const AT_ONCE: usize = 2;

/// Which other spellings match a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alike {
    /// Another Unicode form.
    Form,
    /// Another Unicode form, or other kinds of spaces.
    FormAndSpaces,
}

/// The lookups in a root: their permits, and what the last one saw.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    /// The cancellation of each holder, by the number of its permit.
    holders: Mutex<Holders>,
    freed: Condvar,
    last: Mutex<Option<Remembered>>,
}

#[derive(Debug, Default)]
struct Holders {
    next: u64,
    all: Vec<(u64, Cancel)>,
}

/// The right to read a directory, until this is dropped.
struct Permit<'l> {
    lookups: &'l Lookups,
    number: u64,
}

impl Root {
    /// The only entry of a real directory that has `name` in another spelling.
    pub(super) fn alike(
        &self,
        dir: &RelPath,
        name: &[u8],
        alike: Alike,
        cancel: &Cancel,
    ) -> Result<Vec<u8>, RootError> {
        let wanted = Wanted::new(name, alike).ok_or(RootError::NotFound)?;
        let _permit = self.lookups.permit(cancel)?;
        let directory = self.open_real_directory(dir)?;
        let state = directory.state();
        if self.lookups.remembers_none(state, &wanted.form) {
            return Err(RootError::NotFound);
        }
        let mut hashes = Hashes::default();
        let (mut only, mut several) = (None, false);
        let is_cut = directory.each(cancel, |entry| {
            if state.is_some() {
                hashes.add(entry.name);
            }
            if wanted.is(entry.name) {
                several |= only.replace(entry.name.to_vec()).is_some();
            }
        })?;
        if let Some(state) = state.filter(|state| !is_cut && directory.state() == Some(*state)) {
            self.lookups.remember(Remembered::new(state, hashes));
        }
        match only {
            _ if several => Err(RootError::Ambiguous),
            only => only.ok_or(RootError::NotFound),
        }
    }
}

impl Lookups {
    /// Waits for a permit. A holder that was told to stop does so soon, or is stuck in a file system that does not
    /// respond.
    fn permit(&self, cancel: &Cancel) -> Result<Permit<'_>, Cancelled> {
        let mut holders = lock(&self.holders);
        while holders.all.iter().filter(|(_, holder)| !holder.is_requested()).count() >= AT_ONCE {
            cancel.check()?;
            holders = self.freed.wait_timeout(holders, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        let number = holders.next;
        holders.next += 1;
        holders.all.push((number, cancel.clone()));
        Ok(Permit { lookups: self, number })
    }

    fn remembers_none(&self, state: Option<remembered::State>, form: &str) -> bool {
        let last = lock(&self.last);
        state.zip(last.as_ref()).is_some_and(|(state, last)| last.state == state && !last.may_hold(form))
    }

    fn remember(&self, seen: Option<Remembered>) {
        if seen.is_some() {
            *lock(&self.last) = seen;
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        lock(&self.lookups.holders).all.retain(|(number, _)| *number != self.number);
        self.lookups.freed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name that is looked for.
struct Wanted {
    /// In normal form C and, if spaces match, with plain spaces.
    form: String,
    alike: Alike,
}

impl Wanted {
    /// `None` if the name has no other spelling.
    fn new(name: &[u8], alike: Alike) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?;
        let has_other = |byte: u8| !byte.is_ascii() || (byte == b' ' && alike == Alike::FormAndSpaces);
        name.bytes().any(has_other).then(|| Self { form: canonical_form(name, alike).into_owned(), alike })
    }

    /// Whether an entry's name matches. Nearly all differ in their length or first characters.
    fn is(&self, name: &[u8]) -> bool {
        let Ok(name) = std::str::from_utf8(name) else { return false };
        if name.is_ascii() {
            name.len() == self.form.len() && canonical_form(name, self.alike) == self.form
        } else {
            canonical_characters(name, self.alike).eq(self.form.chars())
        }
    }
}

/// Normal form C; if spaces match, with each kind of space replaced by a plain one.
fn canonical_form(name: &str, alike: Alike) -> Cow<'_, str> {
    let has_other_spaces = || alike == Alike::FormAndSpaces && name.bytes().any(|byte| matches!(byte, b'\t'..=b'\r'));
    if name.is_ascii() && !has_other_spaces() {
        return name.into();
    }
    canonical_characters(name, alike).collect()
}

fn canonical_characters(name: &str, alike: Alike) -> impl Iterator<Item = char> + '_ {
    let spaces = alike == Alike::FormAndSpaces;
    name.nfc().map(move |c| if spaces && c.is_whitespace() { ' ' } else { c })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_permit_fails_if_its_holder_is_stuck_and_not_if_it_works() {
        let (lookups, owners) = (Lookups::default(), [(); AT_ONCE].map(|()| Cancel::default()));
        let held = owners.each_ref().map(|owner| lookups.permit(owner).map_err(drop).expect("one of the first"));
        let cancelled = Cancel::default();
        cancelled.cancel();
        assert!(lookups.permit(&cancelled).is_err(), "all permits are taken");
        let waiter = Cancel::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lookups.permit(&waiter).map(drop));
            owners[0].cancel(); // as the watchdog does with one that is stuck
            assert!(waiting.join().expect("no panic").is_ok());
        });
        drop(held);
        assert!(lookups.permit(&cancelled).is_ok(), "nobody has one");
    }

    #[test]
    fn names_are_compared_by_what_they_mean() {
        let wanted = |name: &str, alike| Wanted::new(name.as_bytes(), alike);
        assert!(wanted("plain.txt", Alike::FormAndSpaces).is_none() && wanted("a b", Alike::Form).is_none());
        for (asked, name, in_form) in [
            ("e\u{301}", "\u{e9}", true),
            ("\u{212a}.txt", "K.txt", true),
            ("a b", "a\u{202f}b", false),
            ("a b", "a\tb", false),
            ("e\u{301} 9\u{3000}PM", "\u{e9}\u{a0}9 PM", false),
        ] {
            assert!(wanted(asked, Alike::FormAndSpaces).expect("a spelling").is(name.as_bytes()), "{asked}");
            let is_form = wanted(asked, Alike::Form).is_some_and(|wanted| wanted.is(name.as_bytes()));
            assert_eq!(is_form, in_form, "{asked}");
        }
        let wanted = wanted("\u{e9}.txt", Alike::FormAndSpaces).expect("a spelling");
        for other in ["e.txt", "\u{e9}.tx", "\u{e9}.txt2", "e\u{301}\u{301}.txt"] {
            assert!(!wanted.is(other.as_bytes()), "{other}");
        }
        assert!(!wanted.is(b"\xe9.txt"), "not UTF-8");
    }
}
