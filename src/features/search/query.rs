//! What is looked for in texts: a literal or a regular expression, compiled for ripgrep's engine.
//!
//! Its time is linear in the text and its memory is bounded, whatever the expression.

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

/// Bytes that a compiled expression, and the cache of its automaton, may take.
const MAX_COMPILED: usize = 10 << 20;
/// Bytes of a query.
const MAX_QUERY: usize = 10_000;
/// Bytes of one line in a file that is read as a stream.
const MAX_LINE: usize = 16 << 20;
/// A line is shown up to this many bytes; of a longer one, what is around the match.
const SHOWN: usize = 400;

/// How a query is meant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// It is a regular expression, not the text itself.
    pub(crate) regex: bool,
    /// `None`: capitals count only where the query has one.
    pub(crate) case_sensitive: Option<bool>,
    /// A match may go over the end of a line.
    pub(crate) multiline: bool,
    /// Lines shown around each match.
    pub(crate) context: usize,
}

/// A compiled query.
#[derive(Debug)]
pub(crate) struct Query {
    matcher: RegexMatcher,
    options: Options,
    /// A text that is the same bytes in every encoding that is a superset of ASCII.
    is_ascii: bool,
}

impl Query {
    /// Compiles a query; the error shows where it is wrong.
    pub(crate) fn new(text: &str, mut options: Options) -> Result<Self, String> {
        if text.len() > MAX_QUERY {
            return Err(format!("\"query\" may have at most {MAX_QUERY} bytes."));
        }
        let over_lines = !options.regex && text.contains('\n');
        options.multiline |= over_lines;
        if options.regex {
            // The engine wraps the expression, and would show the place in what it made of it.
            regex_syntax::parse(text).map_err(|error| format!("\"query\" is no regular expression: {error}"))?;
        }
        let pattern = if over_lines { any_line_ending(text) } else { text.to_owned() };
        let mut builder = RegexMatcherBuilder::new();
        builder
            .fixed_strings(!options.regex && !over_lines)
            .multi_line(true)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_COMPILED)
            .case_smart(options.case_sensitive.is_none())
            .case_insensitive(options.case_sensitive == Some(false))
            .line_terminator(Some(b'\n'))
            .crlf(true); // `$` is also before \r\n
        if options.multiline {
            builder.line_terminator(None);
        }
        let matcher = builder.build(&pattern).map_err(|error| match error.to_string() {
            error if error.contains("\"\\n\" is not allowed") => {
                "\"query\" matches a line's end; set \"multiline\" to true for that.".to_owned()
            }
            error => format!("\"query\" cannot be searched for: {error}"),
        })?;
        Ok(Self { matcher, is_ascii: text.is_ascii() && !options.regex, options })
    }

    pub(super) fn matcher(&self) -> &RegexMatcher {
        &self.matcher
    }

    /// Whether lines around the matches are shown.
    pub(super) fn has_context(&self) -> bool {
        self.options.context > 0
    }

    /// Whether bytes that are not UTF-8 can be searched as they are.
    pub(super) fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    /// A searcher for this query, to be used for one file after the other. With an encoding it decodes what it reads.
    pub(super) fn searcher(&self, encoding: Option<grep_searcher::Encoding>) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .multi_line(self.options.multiline)
            .before_context(self.options.context)
            .after_context(self.options.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_LINE))
            .encoding(encoding)
            .build()
    }

    /// A line as it is shown: whole, or what is around the match.
    pub(super) fn shown(&self, line: &[u8]) -> String {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() <= SHOWN {
            return String::from_utf8_lossy(line).into_owned();
        }
        let found = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let start = found.saturating_sub(SHOWN / 4);
        let end = (start + SHOWN).min(line.len());
        let is_boundary = |at: usize| at >= line.len() || line[at] & 0xC0 != 0x80;
        let start = (start..=found).find(|at| is_boundary(*at)).unwrap_or(start);
        let end = (start..=end).rev().find(|at| is_boundary(*at)).unwrap_or(end);
        let text = String::from_utf8_lossy(&line[start..end]);
        let (before, after) = (if start > 0 { "..." } else { "" }, if end < line.len() { "..." } else { "" });
        format!("{before}{text}{after}")
    }
}

/// A literal of several lines as an expression that takes every kind of line ending for every other.
fn any_line_ending(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(regex_syntax::escape).collect();
    let end = if text.ends_with('\n') { r"\r?\n" } else { "" };
    lines.join(r"\r?\n") + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_match_at_whole_characters() {
        let query = Query::new("needle", Options::default()).expect("a query");
        let line = format!("{}needle{}", "é".repeat(5_000), "日".repeat(5_000));
        let shown = query.shown(line.as_bytes());
        assert!(shown.starts_with("...é") && shown.ends_with("日...") && shown.contains("needle"), "{shown}");
        assert!(shown.len() <= SHOWN + 6);
        assert_eq!(query.shown(b"short needle\r\n"), "short needle");
    }

    #[test]
    fn a_wrong_regex_is_shown_where_it_is_wrong() {
        let options = Options { regex: true, ..Options::default() };
        let error = Query::new("a(b", options).expect_err("wrong");
        assert!(error.contains("a(b\n") && error.contains('^') && error.contains("unclosed group"), "{error}");
        assert!(Query::new("a\\nb", options).expect_err("over lines").contains("multiline"));
        assert!(Query::new("(a{1000}){1000}", options).is_err(), "its size is bounded");
    }
}
