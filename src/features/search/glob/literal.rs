//! A glob that also matches its own text literally.
//!
//! Routes are called `[id]`, and templates `{type} one.md`; in a glob these are a class and a list. Every class, list
//! and escape becomes a choice between its meaning and its literal text, so that either is found, and the rest of the
//! glob keeps its wildcards. What is not a valid class or list is taken literally.

use globset::GlobBuilder;

/// Characters with a meaning in globs.
const SPECIAL: [char; 8] = ['*', '?', '[', ']', '{', '}', '\\', ','];

/// Whether a text contains brackets, braces or escapes, and so may be meant literally.
pub(super) fn is_ambiguous(glob: &str) -> bool {
    glob.contains(['[', ']', '{', '}', '\\'])
}

/// The glob that matches this text and nothing else.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if SPECIAL.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The glob with a choice for every class, list and escape.
pub(super) fn or_literal(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len() * 2 + 16);
    let mut rest = glob;
    while let Some(c) = rest.chars().next() {
        let token = match c {
            '[' => class(rest),
            '{' => list(rest),
            '\\' => rest.chars().nth(1).map(|escaped| &rest[..=escaped.len_utf8()]),
            _ => None,
        };
        match token {
            Some(token) if c == '{' => push_choice(&mut out, &classes_or_literal(token), token),
            Some(token) => push_choice(&mut out, token, token),
            // It opens, closes or escapes nothing here.
            None if matches!(c, '[' | ']' | '{' | '}' | '\\') => out.extend(['\\', c]),
            None => out.push(c),
        }
        rest = &rest[token.map_or(c.len_utf8(), str::len)..];
    }
    out
}

fn push_choice(out: &mut String, meaning: &str, written: &str) {
    out.push('{');
    out.push_str(meaning);
    out.push(',');
    out.push_str(&escaped(written));
    out.push('}');
}

/// A list with a choice for each class in it. Nested lists get none: the number of choices would grow with the square
/// of the depth.
fn classes_or_literal(list: &str) -> String {
    let mut out = String::with_capacity(list.len() * 2);
    let mut rest = list;
    while let Some(c) = rest.chars().next() {
        let length = match (c, class(rest)) {
            ('[', Some(class)) => {
                push_choice(&mut out, class, class);
                class.len()
            }
            ('[', None) => {
                out.push_str("\\[");
                1
            }
            ('\\', _) => {
                let pair = rest.chars().take(2).map(char::len_utf8).sum();
                out.push_str(&rest[..pair]);
                pair
            }
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// The length of the class that `text` begins with, if it does.
pub(in crate::features::search) fn class_length(text: &str) -> Option<usize> {
    class(text).map(str::len)
}

/// The class that `text` begins with; `None` if it does not end, or contains a reversed range.
fn class(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('[')?;
    let inside = inside.strip_prefix(['!', '^']).unwrap_or(inside);
    // A leading `]` is one of the characters.
    let first = inside.chars().next()?.len_utf8();
    let mut end = text.len() - inside.len() + first;
    loop {
        end += text[end..].find(']')? + 1;
        let class = &text[..end];
        // A `]` may also end a named class such as [:digit:] inside this one.
        if GlobBuilder::new(class).backslash_escape(true).build().is_ok() {
            return Some(class);
        }
        if !class.ends_with(":]") {
            return None;
        }
    }
}

/// The list that `text` begins with, including nested lists; `None` if it does not end.
fn list(text: &str) -> Option<&str> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(c) = text[at..].chars().next() {
        let mut length = c.len_utf8();
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '[' => length = class(&text[at..]).map_or(length, str::len),
            '\\' => length += text[at + 1..].chars().next()?.len_utf8(),
            _ => {}
        }
        at += length;
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_class_list_and_escape_becomes_a_choice() {
        for (glob, want) in [
            ("src/**/*.rs", "src/**/*.rs"),
            ("a/[id]/b", "a/{[id],\\[id\\]}/b"),
            ("{type}*.md", "{{type},\\{type\\}}*.md"),
            ("[[...slug]]", "{[[...slug],\\[\\[...slug\\]}\\]"),
            ("[[...sign-in]]", "\\[\\[...sign-in\\]\\]"),
            ("{[id],x}", "{{{[id],\\[id\\]},x},\\{\\[id\\]\\,x\\}}"),
            ("[[:digit:]x]", "{[[:digit:]x],\\[\\[:digit:\\]x\\]}"),
            ("[]]", "{[]],\\[\\]\\]}"),
            ("a\\*b", "a{\\*,\\\\\\*}b"),
            ("[ab", "\\[ab"),
            ("{a", "\\{a"),
            ("a}b]", "a\\}b\\]"),
            ("a\\", "a\\\\"),
        ] {
            assert_eq!(or_literal(glob), want, "{glob}");
        }
    }

    fn matcher(glob: &str) -> globset::GlobMatcher {
        super::super::build(glob).expect("a glob").compile_matcher()
    }

    proptest! {
        /// Any text finds the name that equals it, and a valid glob also finds what it matches.
        #[test]
        fn a_glob_matches_itself_and_all_that_it_means(
            parts in prop::collection::vec(prop::sample::select(
                vec!["a", "b", "é", "[", "]", "{", "}", ",", "\\", "*", "?", "-", "!", "/", "[ab]", "{a,b}", "[:", ":]"],
            ), 1..9),
            name in "[ab\\[\\]{},-]{1,4}",
        ) {
            let glob = parts.concat();
            prop_assume!(!glob.contains("**"));
            let either = matcher(&or_literal(&glob));
            prop_assert!(either.is_match(&glob), "{glob} as {}", or_literal(&glob));
            if super::super::build(&glob).is_ok() {
                let meant = matcher(&glob).is_match(&name);
                prop_assert!(!meant || either.is_match(&name), "{glob} as {}: {name}", or_literal(&glob));
            }
            prop_assert!(matcher(&escaped(&glob)).is_match(&glob));
        }
    }
}
