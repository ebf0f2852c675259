//! Patterns of calls that contain names such as `[id]` or `{type}`, which may be meant literally.

/// The pattern with its brackets and braces as plain characters; `None` if it has no pair of them, which makes it a
/// mistake rather than a name.
pub(super) fn as_written(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let (mut open, mut has_any) = (Vec::new(), false);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                out.push(c);
                out.extend(rest.next());
                continue;
            }
            '[' => open.push(']'),
            '{' => open.push('}'),
            ']' | '}' if open.pop() != Some(c) => return None,
            _ => {}
        }
        if matches!(c, '[' | ']' | '{' | '}') {
            has_any = true;
            out.push('\\');
        }
        out.push(c);
    }
    (has_any && open.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_written_as_they_are_and_what_has_no_partner_is_no_name() {
        for (pattern, want) in [
            ("app/[id]/*.ts", Some("app/\\[id\\]/*.ts")),
            ("[[...sign-in]]", Some("\\[\\[...sign-in\\]\\]")),
            ("{type}", Some("\\{type\\}")),
            ("\\[id]", None),
            ("a{b", None),
            ("[a}", None),
            ("*.rs", None),
        ] {
            assert_eq!(as_written(pattern).as_deref(), want, "{pattern}");
        }
    }
}
