//! Rewrites a regular expression for the engine: without what costs memory for no benefit, and with only one way to
//! write a line ending.
//!
//! - Groups do not capture: nothing asks for their content, and the engine would keep two positions per group in each
//!   state, which is 1 GiB for 4,000 groups.
//! - `\r\n` and `\r?\n` become `\n`, because the engine gets texts with such line endings (`Query::make_lines_even`);
//!   but not if the expression mentions other carriage returns: then it means the bytes as they are.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, ClassSetItem, GroupKind, RepetitionKind, RepetitionRange, Span, Visitor, visit};
use regex_syntax::hir::translate::Translator;

/// The limit of classes with many ranges, such as `\w`: each takes several KiB when it is parsed, before the engine
/// counts.
const MOST_CLASSES: usize = 500;

/// A regular expression, rewritten.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// It mentions a carriage return that does not precede a line feed.
    pub(super) has_return: bool,
}

/// Parses a regular expression and rewrites it. The error shows where it is wrong.
pub(super) fn rewrite(text: &str) -> Result<Rewritten, String> {
    let ast = Parser::new().parse(text).map_err(|error| error.to_string())?;
    let Ok(found) = visit(&ast, Finder::default());
    if found.classes > MOST_CLASSES {
        return Err(format!("it has more than {MOST_CLASSES} classes such as \\w."));
    }
    // What the parser does not check, such as classes that Unicode does not have.
    Translator::new().translate(text, &ast).map_err(|error| error.to_string())?;
    let mut rewritten = text.to_owned();
    let has_return = found.returns > found.before_feed.len();
    let mut changes = found.changes;
    if !has_return {
        changes.extend(found.before_feed.into_iter().map(|span| (span, "")));
    }
    changes.sort_by_key(|(span, _)| std::cmp::Reverse(span.start.offset));
    for (span, new) in changes {
        rewritten.replace_range(span.start.offset..span.end.offset, new);
    }
    Ok(Rewritten { text: rewritten, has_return })
}

/// Finds what has to be changed.
#[derive(Default)]
struct Finder {
    changes: Vec<(Span, &'static str)>,
    classes: usize,
    /// The number of carriage returns, and the positions of those before a line feed.
    returns: usize,
    before_feed: Vec<Span>,
}

impl Visitor for Finder {
    type Output = Self;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Self, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::Group(group) => {
                // From after the `(` to the end of the name or flags, if any.
                let mut start = group.span.start;
                (start.offset, start.column) = (start.offset + 1, start.column + 1);
                match &group.kind {
                    GroupKind::CaptureIndex(_) => self.changes.push((Span::new(start, start), "?:")),
                    GroupKind::CaptureName { name, .. } => {
                        let mut end = name.span.end;
                        (end.offset, end.column) = (end.offset + 1, end.column + 1);
                        self.changes.push((Span::new(start, end), "?:"));
                    }
                    GroupKind::NonCapturing(_) => {}
                }
            }
            Ast::Concat(concat) => {
                for pair in concat.asts.windows(2) {
                    if is_return(&pair[0]) && begins_with_feed(&pair[1]) {
                        self.before_feed.push(*pair[0].span());
                    }
                }
            }
            Ast::ClassUnicode(_) | Ast::ClassPerl(_) => self.classes += 1,
            Ast::Literal(literal) if literal.c == '\r' => self.returns += 1,
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        self.classes += usize::from(matches!(item, ClassSetItem::Unicode(_) | ClassSetItem::Perl(_)));
        Ok(())
    }
}

/// `\r`, `\r?` or `\r*`.
fn is_return(ast: &Ast) -> bool {
    match ast {
        Ast::Repetition(repetition) => may_be_absent(&repetition.op.kind) && is_literal(&repetition.ast, '\r'),
        ast => is_literal(ast, '\r'),
    }
}

/// `
/// `, once or repeated.
fn begins_with_feed(ast: &Ast) -> bool {
    match ast {
        Ast::Repetition(repetition) => !may_be_absent(&repetition.op.kind) && is_literal(&repetition.ast, '\n'),
        ast => is_literal(ast, '\n'),
    }
}

fn is_literal(ast: &Ast, c: char) -> bool {
    matches!(ast, Ast::Literal(literal) if literal.c == c)
}

fn may_be_absent(kind: &RepetitionKind) -> bool {
    use RepetitionRange::{AtLeast, Bounded, Exactly};
    match kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => true,
        RepetitionKind::OneOrMore => false,
        RepetitionKind::Range(Exactly(least) | AtLeast(least) | Bounded(least, _)) => *least == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> (String, bool) {
        let Rewritten { text, has_return } = rewrite(text).expect("an expression");
        (text, has_return)
    }

    #[test]
    fn groups_capture_nothing() {
        for (text, want) in [
            ("(a)", "(?:a)"),
            ("((é)|(?i:b(c)))", "(?:(?:é)|(?i:b(?:c)))"),
            ("(?P<n>a)(?<m>b)", "(?:a)(?:b)"),
            (r"\(a[(]", r"\(a[(]"),
            ("(?x)( a )# (b)", "(?x)(?: a )# (b)"),
        ] {
            assert_eq!(rewritten(text), (want.to_owned(), false), "{text}");
        }
    }

    #[test]
    fn a_return_before_a_line_feed_goes_and_another_is_noticed() {
        for (text, want, has_return) in [
            (r"a\r\nb", r"a\nb", false),
            (r"a\r?\n+b", r"a\n+b", false),
            ("a\r\n(b|\r\nc)", "a\n(?:b|\nc)", false),
            (r"a\r{0,1}\x0Ab", r"a\x0Ab", false),
            (r"a\rb", r"a\rb", true),
            (r"\r\n\r", r"\r\n\r", true),
            (r"(\r)\n", r"(?:\r)\n", true),
            (r"\r+\n", r"\r+\n", true),
            (r"\r\n?", r"\r\n?", true),
            (r"[^\r\n]+", r"[^\r\n]+", false),
        ] {
            assert_eq!(rewritten(text), (want.to_owned(), has_return), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_or_too_much_is_said() {
        assert!(rewrite("a(b").expect_err("wrong").contains("unclosed group"));
        assert!(rewrite(r"\p{Nonsense}").expect_err("wrong").contains("Unicode property not found"));
        assert!(rewrite(&r"\w".repeat(501)).expect_err("too much").contains("more than 500 classes"));
        assert!(rewrite(&r"[\d\s]".repeat(251)).is_err());
    }
}
