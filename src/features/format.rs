//! How answers write paths, sizes, numbers and times.

use std::borrow::Cow;
use std::time::SystemTime;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::hostile::is_hostile;
use crate::object;
use crate::root::{Entry, Kind, NotEntered, RelPath, Root};

/// A path on one line: as it is, or as its `file://` URI if it contains [hostile](crate::hostile) characters or invalid
/// UTF-8. Every tool accepts both.
pub(super) fn shown(root: &Root, path: &RelPath) -> String {
    match plain(path.as_bytes()) {
        Some(_) if path.is_root() => ".".to_owned(),
        Some(text) => text.to_owned(),
        None => root.uri(path),
    }
}

/// The same for an entry of a directory: only its name, if possible.
pub(super) fn shown_entry<'n>(root: &Root, dir: &RelPath, name: &'n [u8]) -> Cow<'n, str> {
    plain(name).map_or_else(|| root.uri(&dir.join(name)).into(), Cow::Borrowed)
}

/// The notes of a walk, one line each.
pub(super) fn notes(root: &Root, notes: &[(RelPath, String)]) -> Vec<String> {
    notes.iter().map(|(path, why)| format!("{} {why}", noted(root, path))).collect()
}

/// How many entries ignore files hid from a walk, if any.
pub(super) fn hidden(entries: usize) -> Option<String> {
    let entries = (entries > 0).then(|| counted(entries as u64, "entry", "entries"))?;
    Some(format!("{entries} hidden by ignore files (includeIgnored shows them)"))
}

/// How many links to directories a walk did not enter, if any.
pub(super) fn not_entered(links: NotEntered) -> Option<String> {
    let at_least = if links.is_more { "at least " } else { "" };
    let links = (links.count > 0).then(|| counted(links.count as u64, "link", "links"))?;
    Some(format!("{at_least}{links} to directories not entered (name one in \"path\")"))
}

/// A path in a note, limited in length.
fn noted(root: &Root, path: &RelPath) -> String {
    object::shortened(&shown(root, path))
}

/// What a walk could not read, mostly directories. Only the first few are named, because there may be any number.
#[derive(Debug, Default)]
pub(super) struct Unreadable {
    first: Vec<RelPath>,
    more: u64,
}

impl Unreadable {
    const NAMED: usize = 5;

    pub(super) fn push(&mut self, path: RelPath) {
        if self.first.len() < Self::NAMED { self.first.push(path) } else { self.more += 1 }
    }

    /// A note that names them; `None` if everything could be read.
    pub(super) fn note(&self, root: &Root) -> Option<String> {
        let names: Vec<_> = self.first.iter().map(|path| noted(root, path)).collect();
        let more = if self.more > 0 { format!(" and {} more", grouped(self.more)) } else { String::new() };
        (!names.is_empty()).then(|| format!("could not be read: {}{more}", names.join(", ")))
    }
}

/// The label before an entry's name in a listing.
pub(super) fn label(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "[FILE]",
        Kind::Directory => "[DIR]",
        Kind::Link => "[LINK]",
        _ => "[OTHER]",
    }
}

/// Appends an entry's line to `text` unless that would exceed `max`. The first entry is always appended, so that
/// continuing from the end of one answer makes progress.
pub(super) fn push_entry(text: &mut String, max: usize, root: &Root, dir: &RelPath, entry: Entry<'_>) -> bool {
    let (label, name) = (label(entry.kind), shown_entry(root, dir, entry.name));
    if !text.is_empty() {
        if text.len() + label.len() + name.len() + 2 > max {
            return false;
        }
        text.push('\n');
    }
    text.push_str(label);
    text.push(' ');
    text.push_str(&name);
    true
}

fn plain(name: &[u8]) -> Option<&str> {
    std::str::from_utf8(name).ok().filter(|text| !text.contains(is_hostile))
}

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 line`, `2 lines`: a number with the right form of the noun.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A size as the official server writes it: two decimals, base 1024.
pub(super) fn size(bytes: impl Into<u128>) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let bytes = bytes.into();
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.2} {}", UNITS[unit])
}

/// RFC 3339, in UTC, to the second; `None` outside the years 0 to 9999.
pub(super) fn timestamp(time: SystemTime) -> Option<String> {
    // A SystemTime can exceed the range of the conversion (a file dated year 500,000), which must not panic.
    let seconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).ok()?,
        Err(before) => {
            let before = before.duration();
            -i64::try_from(before.as_secs()).ok()? - i64::from(before.subsec_nanos() > 0)
        }
    };
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_and_sizes_are_readable() {
        assert_eq!([0, 999, 1_000, 20_310, 1_234_567].map(grouped), ["0", "999", "1,000", "20,310", "1,234,567"]);
        assert_eq!([0_u64, 1_023, 1_024, 1_536, 5 << 20].map(size), ["0 B", "1023 B", "1.00 KB", "1.50 KB", "5.00 MB"]);
    }

    #[test]
    fn times_outside_the_calendar_are_left_out() {
        let at = |seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).and_then(timestamp);
        assert_eq!(at(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(at(1 << 40), None);
        assert_eq!(
            SystemTime::UNIX_EPOCH.checked_sub(Duration::from_millis(500)).and_then(timestamp).as_deref(),
            Some("1969-12-31T23:59:59Z")
        );
        assert_eq!(SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(1 << 40)).and_then(timestamp), None);
    }
}
