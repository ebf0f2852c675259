//! What to search for in files: a literal text or a regular expression, compiled for ripgrep's engine.
//!
//! Its time is linear in the searched text and its memory is bounded, whatever the expression.

use std::sync::Arc;

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;

use super::regex::{self, Rewritten};

/// The limit of a compiled expression, in bytes.
const MAX_COMPILED: usize = 10 << 20;
/// The limit of the automaton's cache, in bytes; each worker has two. More than this helps only with difficult
/// expressions.
const MAX_CACHE: usize = 1 << 20;
/// The number of steps of the slowest engine, states times bytes, between two checkpoints: a few seconds. Work without
/// a checkpoint for longer could not be cancelled, and would be taken for a disk that does not respond.
const MAX_STEPS: usize = 1 << 31;
/// How many bytes are searched in one piece at least, however many states an expression has.
const SMALLEST_PIECE: usize = 4 << 10;
/// The limit of a query, in bytes.
const MAX_QUERY: usize = 10_000;
/// The longest line that is shown as a whole, in bytes; of a longer one, the part around the match is shown.
const SHOWN: usize = 400;

/// How a query is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Options {
    /// It is a regular expression, not literal text.
    pub(crate) regex: bool,
    /// `None`: case matters only if the query contains capitals.
    pub(crate) case_sensitive: Option<bool>,
    /// A match may extend over several lines.
    pub(crate) multiline: bool,
}

/// A query, and how much context to show.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) compiled: Arc<Compiled>,
    /// Lines of context around each match.
    pub(crate) context: usize,
}

/// A compiled query.
#[derive(Debug)]
pub(crate) struct Compiled {
    matcher: RegexMatcher,
    line_end: LineTerminator,
    is_multiline: bool,
    /// It mentions a carriage return, so line endings are searched as they are.
    has_return: bool,
    /// It is a text with the same bytes in every encoding that extends ASCII.
    is_ascii: bool,
    /// How many bytes may be searched without a checkpoint.
    piece: usize,
}

impl Compiled {
    /// Compiles a query. The error shows where it is wrong.
    pub(crate) fn new(text: &str, options: Options) -> Result<Self, String> {
        if text.len() > MAX_QUERY {
            return Err(format!("\"query\" may have at most {MAX_QUERY} bytes."));
        }
        let over_lines = !options.regex && text.contains('\n');
        let is_multiline = options.multiline || over_lines;
        let (pattern, has_return) = if options.regex {
            // The engine wraps the expression, so its errors would show the wrapped text.
            let Rewritten { text, has_return } = regex::rewrite(text)
                .map_err(|error| format!("\"query\" is not a valid regular expression: {error}"))?;
            (text, has_return)
        } else {
            let even = text.replace("\r\n", "\n");
            if even.contains('\r') { (text.to_owned(), true) } else { (even, false) }
        };
        let line_end = if has_return { LineTerminator::byte(b'\n') } else { LineTerminator::crlf() };
        let mut builder = RegexMatcherBuilder::new();
        builder
            .fixed_strings(!options.regex)
            .multi_line(true)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_CACHE)
            .case_smart(options.case_sensitive.is_none())
            .case_insensitive(options.case_sensitive == Some(false));
        match (is_multiline, has_return) {
            (false, false) => builder.crlf(true),
            (false, true) => builder.line_terminator(Some(b'\n')),
            // `$` also matches before \r
            // , and no line ending terminates a match.
            (true, false) => builder.crlf(true).line_terminator(None),
            (true, true) => &mut builder,
        };
        let matcher = builder.build(&pattern).map_err(|error| match error.to_string() {
            error if error.contains("\"\\n\" is not allowed") => {
                "\"query\" matches a line end; set \"multiline\" to true.".to_owned()
            }
            error => format!("\"query\" cannot be used: {error}"),
        })?;
        let is_ascii = text.is_ascii() && !options.regex;
        let piece = if options.regex { MAX_STEPS / states(&pattern, options) } else { usize::MAX };
        Ok(Self { matcher, line_end, is_multiline, has_return, is_ascii, piece: piece.max(SMALLEST_PIECE) })
    }
}

/// The number of states of an expression, at least one.
fn states(pattern: &str, options: Options) -> usize {
    let config = thompson::Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(MAX_COMPILED));
    let syntax = syntax::Config::new().multi_line(true).utf8(false);
    let syntax = syntax.case_insensitive(options.case_sensitive != Some(true));
    let built = thompson::Compiler::new().configure(config).syntax(syntax).build(pattern);
    // An expression that is too large without regard to case has as many as fit.
    built.map_or(MAX_COMPILED / size_of::<thompson::State>(), |nfa| nfa.states().len()).max(1)
}

impl Query {
    /// How many bytes, at most `most`, may be searched without a checkpoint.
    pub(super) fn piece(&self, most: usize) -> usize {
        most.min(self.compiled.piece)
    }

    pub(super) fn matcher(&self) -> &RegexMatcher {
        &self.compiled.matcher
    }

    /// Whether to show lines around the matches.
    pub(super) fn has_context(&self) -> bool {
        self.context > 0
    }

    /// Whether bytes that are not UTF-8 can be searched as they are.
    pub(super) fn is_ascii(&self) -> bool {
        self.compiled.is_ascii
    }

    /// Whether a match may extend over several lines, for which the file must be in memory.
    pub(super) fn is_multiline(&self) -> bool {
        self.compiled.is_multiline
    }

    /// Turns every `\r
    /// ` into `
    /// ` if a match may extend over several lines, so that the kind of line ending does not matter. Returns how many bytes remain.
    pub(super) fn make_lines_even(&self, text: &mut [u8]) -> usize {
        if !self.compiled.is_multiline || self.compiled.has_return {
            return text.len();
        }
        let finder = memchr::memmem::Finder::new(b"\r\n");
        let (mut from, mut to) = (0, 0);
        while let Some(length) = finder.find(&text[from..]) {
            text.copy_within(from..from + length, to);
            (from, to) = (from + length + 1, to + length);
        }
        text.copy_within(from.., to);
        to + text.len() - from
    }

    /// A searcher for this query, to be used for one file after another, with lines up to `longest`. If an encoding is
    /// given, it decodes what it reads.
    pub(super) fn searcher(&self, encoding: Option<grep_searcher::Encoding>, longest: usize) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .line_terminator(self.compiled.line_end)
            .multi_line(self.compiled.is_multiline)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(longest))
            .encoding(encoding)
            .build()
    }

    /// Appends a line to `text` in the form in which it is shown: as a whole, or the part around the match.
    pub(super) fn push_shown(&self, text: &mut String, line: &[u8]) {
        let mut line = line.strip_suffix(b"\n").unwrap_or(line);
        while let Some(shorter) = line.strip_suffix(b"\r") {
            line = shorter;
        }
        if line.len() <= SHOWN {
            text.push_str(&String::from_utf8_lossy(line));
            return;
        }
        let found = self.matcher().find(line).ok().flatten().map_or(0, |found| found.start());
        let start = found.saturating_sub(SHOWN / 4);
        let end = (start + SHOWN).min(line.len());
        let is_boundary = |at: usize| at >= line.len() || line[at] & 0xC0 != 0x80;
        let start = (start..=found).find(|at| is_boundary(*at)).unwrap_or(start);
        let end = (start..=end).rev().find(|at| is_boundary(*at)).unwrap_or(end);
        text.push_str(if start > 0 { "..." } else { "" });
        text.push_str(&String::from_utf8_lossy(&line[start..end]));
        text.push_str(if end < line.len() { "..." } else { "" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str, options: Options) -> Result<Query, String> {
        Ok(Query { compiled: Arc::new(Compiled::new(text, options)?), context: 0 })
    }

    #[test]
    fn a_long_line_is_cut_around_the_match_at_whole_characters() {
        let query = query("needle", Options::default()).expect("a query");
        let shown = |line: &[u8]| {
            let mut text = String::new();
            query.push_shown(&mut text, line);
            text
        };
        let line = shown(format!("{}needle{}", "é".repeat(5_000), "日".repeat(5_000)).as_bytes());
        assert!(line.starts_with("...é") && line.ends_with("日...") && line.contains("needle"), "{line}");
        assert!(line.len() <= SHOWN + 6);
        assert_eq!([shown(b"short needle\r\n"), shown(b"\r\r\n")], ["short needle", ""]);
    }

    #[test]
    fn a_wrong_regex_is_shown_where_it_is_wrong() {
        let options = Options { regex: true, ..Options::default() };
        let error = query("a(b", options).expect_err("wrong");
        assert!(error.contains("a(b\n") && error.contains('^') && error.contains("unclosed group"), "{error}");
        assert!(query("a\\nb", options).expect_err("over lines").contains("multiline"));
        assert!(query("(a{1000}){1000}", options).is_err(), "its size is bounded");
    }

    #[test]
    fn line_ends_are_made_even_where_a_match_may_go_over_them() {
        let even = |query: &Query, text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            let length = query.make_lines_even(&mut bytes);
            String::from_utf8(bytes[..length].to_vec()).expect("text")
        };
        let over_lines = query("a\nb", Options::default()).expect("a query");
        for (text, want) in [("a\r\nb\r\n", "a\nb\n"), ("", ""), ("\r\n", "\n"), ("\r\r\na\rb\n\r", "\r\na\rb\n\r")] {
            assert_eq!(even(&over_lines, text), want);
        }
        for text in ["a", "a\r", "a\rb\nc"] {
            assert_eq!(even(&query(text, Options::default()).expect("a query"), "a\r\n"), "a\r\n", "{text}");
        }
    }
}
