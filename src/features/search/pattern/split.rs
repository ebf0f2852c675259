//! Splits a pattern into its globs.

use crate::features::search::glob::class_length;

/// The globs of a pattern, separated by `|`, `,` or `;` outside braces and brackets and without spaces around.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin, mut at) = (Vec::new(), 0_usize, 0, 0);
    while let Some(c) = text[at..].chars().next() {
        let mut length = c.len_utf8();
        match c {
            '\\' => length += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => length = class_length(&text[at..]).unwrap_or(length),
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '|' | ',' | ';' if depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        at += length;
    }
    parts.push(&text[begin..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Whether a part is more than a plain name: a name that contains a comma consists of such parts, too.
pub(super) fn is_glob(part: &str) -> bool {
    part.contains(['*', '?', '/']) || is_extension(part)
}

/// Whether it is `.ts` or the like: the ending of names, or a name.
pub(super) fn is_extension(part: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric());
    part.strip_prefix('.').is_some_and(|words| words.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_braces_or_brackets_or_escaped_parts_nothing() {
        for (text, want) in [
            ("a", &["a"][..]),
            ("a,b", &["a", "b"]),
            (" a | b ; c,", &["a", "b", "c"]),
            ("{a,b},[,]|c", &["{a,b}", "[,]", "c"]),
            ("a\\,b", &["a\\,b"]),
            ("{a{b,c},d}", &["{a{b,c},d}"]),
            ("[a,b", &["[a", "b"]),
            ("a},b", &["a}", "b"]),
            ("a\\", &["a\\"]),
            (",|;", &[]),
        ] {
            assert_eq!(parts(text), want, "{text}");
        }
    }
}
