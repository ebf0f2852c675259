//! Changes as a unified diff in a fence of backticks, which is the format of the official server.
//!
//! Only the part between the first and the last change is compared, in bounded time and memory, and the output is
//! bounded as well.

use std::ops::Range;
use std::time::Duration;

use similar::{ChangeTag, DiffOp, TextDiff};

use super::Edited;
use super::lines::count;

/// Lines of context around each change.
const CONTEXT: usize = 4;
/// How long to look for the shortest difference; after that, any will do.
const TIME: Duration = Duration::from_secs(1);
/// The limit of lines from the first change to the last, before and after together. Beyond it, they are not compared.
const COMPARED: usize = 400_000;
/// Bytes reserved for what surrounds the diff: a language tag, newlines, and a note.
const AROUND: usize = 100;

/// The difference as text of at most `limit` bytes, cut at the end of a line if it is longer. All line endings in it are `
/// `.
pub(in crate::features) fn diff(name: &str, edited: &Edited, limit: usize) -> String {
    let mut page = Page { text: String::new(), fence: 3, most: limit.saturating_sub(AROUND), is_cut: false };
    page.push(&format!("Index: {name}\n{}\n--- {name}\toriginal\n+++ {name}\tmodified\n", "=".repeat(67)));
    let changed = Changed::between(&edited.before, &edited.after);
    if count(changed.before) + count(changed.after) > COMPARED {
        page.is_cut = true;
    } else {
        changed.write(&mut page);
    }
    page.fenced()
}

/// The text so far, limited in size.
struct Page {
    text: String,
    /// The number of backticks in the fence: more than in any run in the text.
    fence: usize,
    /// The limit of the text and its two fences, in bytes.
    most: usize,
    is_cut: bool,
}

impl Page {
    /// Appends whole lines. Once something did not fit, nothing more is appended.
    fn push(&mut self, lines: &str) {
        let runs = lines.split(|c| c != '`').map(str::len);
        let fence = runs.max().unwrap_or(0).saturating_add(1).max(self.fence);
        self.is_cut |= self.text.len() + lines.len() + 2 * fence > self.most;
        if !self.is_cut {
            self.text.push_str(lines);
            self.fence = fence;
        }
    }

    fn fenced(&self) -> String {
        let fence = "`".repeat(self.fence);
        let note =
            if self.is_cut { "[the diff is too long and was cut here; read_text_file shows the rest]" } else { "" };
        format!("{fence}diff\n{}{fence}\n\n{note}", self.text)
    }
}

/// The lines from the first change to the last, with context.
#[derive(Debug, PartialEq, Eq)]
struct Changed<'t> {
    /// How many equal lines precede it.
    skipped: usize,
    before: &'t str,
    after: &'t str,
}

impl<'t> Changed<'t> {
    fn between(before: &'t str, after: &'t str) -> Self {
        let same = before.bytes().zip(after.bytes()).take_while(|(before, after)| before == after).count();
        let start = line_start(&before.as_bytes()[..same], CONTEXT);
        let rest = before.as_bytes()[same..].iter().rev().zip(after.as_bytes()[same..].iter().rev());
        let same_end = rest.take_while(|(before, after)| before == after).count();
        let tail = &before.as_bytes()[before.len() - same_end..];
        let left_out = tail.len() - line_end(tail, CONTEXT);
        Self {
            skipped: count(&before[..start]),
            before: &before[start..before.len() - left_out],
            after: &after[start..after.len() - left_out],
        }
    }

    fn write(&self, page: &mut Page) {
        let (old, new): (Vec<_>, Vec<_>) =
            (self.before.split_inclusive('\n').collect(), self.after.split_inclusive('\n').collect());
        let diff = TextDiff::configure().timeout(TIME).diff_slices(&old, &new);
        for hunk in diff.grouped_ops(CONTEXT) {
            page.push(&self.hunk_header(&hunk));
            for change in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                let (line, end) = (change.value(), "\n\\ No newline at end of file\n");
                page.push(&format!("{sign}{line}{}", if line.ends_with('\n') { "" } else { end }));
                if page.is_cut {
                    return;
                }
            }
        }
    }

    /// `@@ -1,3 +1,4 @@`: the position of the hunk before and after; if it has no lines, that of the line before.
    fn hunk_header(&self, hunk: &[DiffOp]) -> String {
        let side = |range: fn(&DiffOp) -> Range<usize>| {
            let start = hunk.first().map_or(0, |op| range(op).start);
            let length = hunk.last().map_or(0, |op| range(op).end) - start;
            format!("{},{length}", self.skipped + start + usize::from(length > 0))
        };
        format!("@@ -{} +{} @@\n", side(DiffOp::old_range), side(DiffOp::new_range))
    }
}

/// The start of the line that is `lines` before the last one, which may lack its newline.
fn line_start(text: &[u8], lines: usize) -> usize {
    memchr::memrchr_iter(b'\n', text).nth(lines).map_or(0, |at| at + 1)
}

/// The end of the line that is `lines` after the first one.
fn line_end(text: &[u8], lines: usize) -> usize {
    memchr::memchr_iter(b'\n', text).nth(lines).map_or(text.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(before: &str, after: &str, limit: usize) -> String {
        let (before, after) = (before.to_owned(), after.to_owned());
        let edited = Edited { bytes: Vec::new(), before, after, changed: true, replaced: 1, encoding: None };
        diff("src/a.rs", &edited, limit)
    }

    fn numbered(word: &str, lines: usize) -> String {
        let lines: Vec<_> = (0..lines).map(|number| format!("{word}{number}\n")).collect();
        lines.concat()
    }

    #[test]
    fn it_is_in_the_official_servers_format() {
        let (before, after) = ("1\n2\n3\n4\n5\n6\nold\n8", "1\n2\n3\n4\n5\n6\nnew\n8");
        let want = "```diff\nIndex: src/a.rs\n===================================================================\n\
            --- src/a.rs\toriginal\n+++ src/a.rs\tmodified\n@@ -3,6 +3,6 @@\n 3\n 4\n 5\n 6\n-old\n+new\n 8\n\
            \\ No newline at end of file\n```\n\n";
        assert_eq!(of(before, after, 40_000), want);
    }

    #[test]
    fn a_side_without_lines_is_at_the_line_before() {
        assert!(of("", "a\n", 40_000).contains("@@ -0,0 +1,1 @@\n+a\n"));
        assert!(of("a\n", "", 40_000).contains("@@ -1,1 +0,0 @@\n-a\n"));
    }

    #[test]
    fn the_fence_is_longer_than_any_in_the_text() {
        let diff = of("x\n", "````\n", 40_000);
        assert!(diff.starts_with("`````diff\n") && diff.ends_with("\n`````\n\n"), "{diff}");
        let diff = of("x\n", &"`".repeat(30_000), 40_000);
        assert!(diff.len() < 500 && diff.contains("cut"), "no room for two such fences: {diff}");
    }

    #[test]
    fn it_is_cut_at_a_lines_end_and_says_so() {
        let before = numbered("line ", 10_000);
        let diff = of(&before, &before.replace("line", "row"), 2_000);
        assert!(diff.len() <= 2_000 && diff.len() > 1_800, "{} bytes", diff.len());
        let (body, note) = diff.split_once("\n```\n").expect("a fence");
        let last = body.lines().last().expect("lines");
        assert!(before.contains(&format!("{}\n", &last[1..])), "a whole line: {last:?}");
        assert!(note.contains("cut"), "{note}");
        for limit in [0, 10, 250] {
            assert!(of("a\n", "b\n", limit).len() <= 100.max(limit), "{limit}");
        }
    }

    #[test]
    fn changes_far_apart_in_a_large_file_are_found() {
        let middle = numbered("", 20_000);
        let diff = of(&format!("a\n{middle}b\n"), &format!("A\n{middle}B\n"), 40_000);
        assert!(diff.contains("@@ -1,5 +1,5 @@\n-a\n+A\n 0\n"), "{diff}");
        assert!(diff.contains("@@ -19998,5 +19998,5 @@\n 19996\n"), "{diff}");
        assert!(diff.contains("-b\n+B\n```"), "{diff}");
    }

    #[test]
    fn hostile_texts_take_neither_long_nor_much() {
        for (before, after) in [
            ("\n".repeat(8 << 20), "x\n".repeat(4 << 20)),
            ("a\nb\n".repeat(50_000), "b\na\nc\n".repeat(33_000)),
            ("a\n".repeat(190_000), "a\na\nb\n".repeat(63_000)),
            ("x".repeat(8 << 20), "y".repeat(8 << 20)),
        ] {
            assert!(of(&before, &after, 40_000).len() <= 40_000);
        }
    }

    proptest! {
        /// Applies the diff to the old text line by line, as `patch` would.
        #[test]
        fn applied_it_gives_what_is_after(
            before in prop::collection::vec(prop::sample::select(&["a\n", "b\n", "c\n", "-\n", "\n"][..]), 0..40),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, "[ab]{0,2}\n"), 0..4),
            end in prop::sample::select(&["", "end"][..]),
        ) {
            let mut after: Vec<String> = before.iter().map(|line| (*line).to_owned()).collect();
            for (at, removed, line) in changes {
                let at = at.index(after.len() + 1);
                let to = (at + removed).min(after.len());
                after.splice(at..to, [line]);
            }
            let (before, after) = (before.concat() + end, after.concat() + end);
            prop_assert_eq!(patched(&before, &of(&before, &after, 40_000)), after);
        }
    }

    fn patched(before: &str, diff: &str) -> String {
        let body = diff.split_once("\tmodified\n").expect("a header").1.split_once("```").expect("a fence").0;
        let body = body.replace("\n\\ No newline at end of file\n", "");
        let mut lines = before.split_inclusive('\n').enumerate().peekable();
        let mut after = String::new();
        for line in body.split_inclusive('\n') {
            if let Some(header) = line.strip_prefix("@@ -") {
                let (start, rest) = header.split_once(',').expect("a range");
                let start: usize = start.parse().expect("a number");
                let empty = usize::from(!rest.starts_with("0 "));
                while let Some((_, line)) = lines.next_if(|(index, _)| index + empty < start) {
                    after += line;
                }
                continue;
            }
            let (sign, text) = line.split_at(1);
            if sign != "+" {
                assert_eq!(lines.next().expect("a line").1, text);
            }
            if sign != "-" {
                after += text;
            }
        }
        lines.for_each(|(_, line)| after += line);
        after
    }
}
