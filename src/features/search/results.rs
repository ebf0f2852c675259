//! The entries found by a search, one line each, no more than an answer holds.
//!
//! In the order of the walk, entries before the first line of the answer are only counted. In any other order they are
//! kept, because a later entry may belong before them: at most [`KEPT`] bytes, the first in that order.

mod page;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::SystemTime;

pub(crate) use self::page::Page;

/// How many entries a search asks for their times: each takes a system call.
const MOST_COMPARED: usize = 50_000;
/// The limit of lines kept for sorting, in bytes, in addition to those of an answer.
const KEPT: usize = 8 << 20;
/// What keeping a line takes in addition to its bytes.
const OVERHEAD: usize = 64;

/// The order of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The order of the walk.
    Walked,
    /// The same, but entries whose name equals the pattern literally come first.
    WrittenFirst,
    /// The most recently modified first.
    Modified,
}

/// Lines, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Results {
    order: Order,
    page: Page,
    /// Lines for sorting, by their position, the first one first.
    kept: BTreeMap<Place, String>,
    kept_bytes: usize,
    /// The first line that was not kept; no later one is.
    end: Option<Place>,
    compared: usize,
}

/// The position of a line among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Its name equals the pattern literally.
    Written(u64),
    Walked(u64),
    Modified(Reverse<Option<SystemTime>>, u64),
}

impl Results {
    /// For an answer that is `page`.
    pub(crate) fn new(page: Page, order: Order) -> Self {
        Self { order, page, kept: BTreeMap::new(), kept_bytes: 0, end: None, compared: 0 }
    }

    /// Adds the line of an entry, the `nth` of the walk, if there is room; lines after it in the order make room for
    /// it.
    pub(crate) fn add(
        &mut self,
        line: impl FnOnce() -> String,
        nth: u64,
        is_written: bool,
        modified: impl FnOnce() -> Option<SystemTime>,
    ) {
        let place = match self.order {
            Order::Walked => return self.page.add(line),
            Order::WrittenFirst if is_written => Place::Written(nth),
            Order::WrittenFirst => Place::Walked(nth),
            Order::Modified => {
                self.compared += 1;
                Place::Modified(Reverse(modified()), nth)
            }
        };
        if self.end.is_none_or(|end| place < end) {
            self.keep(place, line());
        }
    }

    fn keep(&mut self, place: Place, line: String) {
        self.kept_bytes += line.len() + OVERHEAD;
        self.kept.insert(place, line);
        let most_bytes = self.page.max_bytes().saturating_add(KEPT);
        while self.kept.len() as u64 > self.page.end() || self.kept_bytes > most_bytes {
            let Some((place, line)) = self.kept.pop_last() else { break };
            self.kept_bytes -= line.len() + OVERHEAD;
            self.end = Some(place);
        }
    }

    /// Whether the search need not continue.
    pub(crate) fn is_complete(&self) -> bool {
        match self.order {
            Order::Walked => self.page.is_cut(),
            // The first line may be found last.
            Order::WrittenFirst => false,
            Order::Modified => self.compared >= MOST_COMPARED,
        }
    }

    /// Sorts the lines; to be called when the search is over.
    pub(crate) fn finish(&mut self) {
        for line in std::mem::take(&mut self.kept).into_values() {
            self.page.add(|| line);
        }
        if self.end.is_some() {
            self.page.end_early();
        }
    }

    /// The answer, once it is finished.
    pub(crate) fn page(&self) -> &Page {
        &self.page
    }

    /// How many entries were compared by their times, if the limit of that ended the search.
    pub(crate) fn compared(&self) -> Option<usize> {
        (self.compared >= MOST_COMPARED).then_some(self.compared)
    }

    /// The answer's text.
    pub(crate) fn into_text(self) -> String {
        self.page.into_text()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_as_they_are_written_come_first_and_find_room() {
        let text = |most, max_bytes, lines: &[&str]| {
            let mut results = Results::new(Page::new(0, most, max_bytes), Order::WrittenFirst);
            for (nth, line) in lines.iter().enumerate() {
                results.add(|| (*line).to_owned(), nth as u64, line.starts_with('['), || None);
            }
            results.finish();
            (results.page().is_cut(), results.into_text())
        };
        assert_eq!(text(3, 100, &["a", "b", "c", "d", "[id]", "e"]), (true, "[id]\na\nb".to_owned()));
        assert_eq!(text(3, 100, &["a", "[b]", "c"]), (false, "[b]\na\nc".to_owned()));
        assert_eq!(text(10, 7, &["aaa", "bbb", "[ab]", "x"]), (true, "[ab]".to_owned()));
        assert_eq!(text(10, 8, &["aaaaaaaaa", "b"]), (true, "aaaaaaaa".to_owned()));
    }

    #[test]
    fn the_last_modified_are_kept_whatever_the_order_in_which_they_come() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let times = [5, 3, 9, 1, 9, 7, 2];
        for (most, max_bytes, want) in
            [(7, 100, "9b\n9d\n7e\n5a\n3b\n2g\n1d"), (3, 100, "9b\n9d\n7e"), (7, 9, "9b\n9d\n7e"), (1, 9, "9b")]
        {
            let mut results = Results::new(Page::new(0, most, max_bytes), Order::Modified);
            let names = ["5a", "3b", "9b", "1d", "9d", "7e", "2g"];
            for (nth, (seconds, name)) in times.into_iter().zip(names).enumerate() {
                results.add(|| name.to_owned(), nth as u64, false, || at(seconds));
            }
            results.finish();
            assert_eq!((results.page().is_cut(), results.into_text().as_str()), (want.len() < 20, want));
        }
    }

    #[test]
    fn pages_are_parts_of_one_order() {
        let lines = ["a", "bb", "[c]", "d", "ee", "[f]", "g"];
        let at = |nth: usize| SystemTime::UNIX_EPOCH + Duration::from_secs([5, 3, 9, 1, 9, 7, 2][nth]);
        for (order, want) in [
            (Order::Walked, ["a", "bb", "[c]", "d", "ee", "[f]", "g"]),
            (Order::WrittenFirst, ["[c]", "[f]", "a", "bb", "d", "ee", "g"]),
            (Order::Modified, ["[c]", "ee", "[f]", "a", "bb", "g", "d"]),
        ] {
            for limit in 1..=8 {
                for max_bytes in [1, 3, 5, 100] {
                    let (mut skip, mut all) = (0, Vec::new());
                    loop {
                        let mut results = Results::new(Page::new(skip, limit, max_bytes), order);
                        for (nth, line) in lines.iter().enumerate() {
                            if !results.is_complete() {
                                results.add(|| (*line).to_owned(), nth as u64, line.starts_with('['), || Some(at(nth)));
                            }
                        }
                        results.finish();
                        let is_cut = results.page().is_cut();
                        let text = results.into_text();
                        all.extend(text.lines().map(str::to_owned));
                        skip = all.len() as u64;
                        if !is_cut || all.len() > 7 {
                            break;
                        }
                    }
                    assert_eq!(all.len(), 7, "{order:?} {limit} {max_bytes}: {all:?}");
                    assert!(max_bytes < 3 || all == want, "{order:?} {limit} {max_bytes}: {all:?}");
                }
            }
        }
    }

    #[test]
    fn no_more_is_kept_than_may_be_put_in_order() {
        let line = "x".repeat(1 << 20);
        let mut results = Results::new(Page::new(100, 10, 100), Order::Modified);
        for nth in 0..20 {
            results.add(|| line.clone(), nth, false, || None);
            assert!(results.kept_bytes <= KEPT + 100);
        }
        results.finish();
        let note = results.page().note().expect("a note");
        assert!(note.contains("only the first 7 results can be sorted"), "{note}");
        assert!(!results.page().has_no_match());
    }
}
