//! Where the token comes from: a file, an environment variable, or the system's random source.

use std::fmt::Write as _;

/// The shortest token, in bytes. A shorter one could be guessed, or is a mistake such as an empty variable.
const SHORTEST: usize = 16;

/// The longest token, in bytes.
pub const LONGEST: usize = 1 << 10;

/// 128 bits from the system's random source, in hexadecimal; `None` if it has none. Session ids are made in the same
/// way.
pub(crate) fn random() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

/// Extracts the token from `text`, the content of `source`, which may end with a newline.
///
/// Fails if it is too short or too long, or cannot be sent in a header.
pub(crate) fn read(source: &str, text: &str) -> Result<String, String> {
    let token = text.trim_ascii();
    if token.len() < SHORTEST {
        return Err(format!("{source} holds a token of {} bytes; it needs at least {SHORTEST}", token.len()));
    }
    if token.len() > LONGEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("{source} must hold one token of at most {LONGEST} visible ASCII characters"));
    }
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_enough_and_one_word() {
        assert_eq!(read("x", "0123456789abcdef\n"), Ok("0123456789abcdef".to_owned()));
        for bad in ["", "\n", "0123456789abcde", "0123456789 abcdef", "0123456789abcd\u{e9}", &"x".repeat(LONGEST + 1)]
        {
            assert!(read("x", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn random_tokens_are_good_and_differ() {
        let tokens: std::collections::HashSet<String> = (0..1_000).filter_map(|_| random()).collect();
        assert_eq!(tokens.len(), 1_000);
        assert!(tokens.iter().all(|token| read("x", token).is_ok() && token.len() == 32));
    }
}
