//! `file://` URIs (RFC 8089, RFC 3986): written for every entry, and parsed as clients really write them.
//!
//! The parser is our own because a general URL parser is too helpful: it turns `\` into `/`, drops tabs, and collapses
//! `%2E%2E` before links are seen. Decoding happens once, and leniently: spaces, raw UTF-8 and a lone `%` stand for
//! themselves. An encoded `/` or NUL, which could turn one name into two, is rejected.

use percent_encoding::{AsciiSet, CONTROLS};

/// What is percent-encoded in a path: everything that RFC 3986 does not allow in one, and what would begin a query or a
/// fragment.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Why a URI is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadUri {
    Scheme,
    Host,
    EncodedSeparator,
}

impl BadUri {
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Scheme => "only file:// URIs are served",
            Self::Host => "a file URI with a host is not served; write file:///path, or a relative path without file:",
            Self::EncodedSeparator => "a name cannot hold an encoded separator (%2F) or NUL (%00)",
        }
    }
}

/// The path in a URI reference: absolute, or relative to the served directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UriPath {
    Absolute(Vec<u8>),
    Relative(Vec<u8>),
}

/// Appends the bytes of a path, percent-encoded; `/` stays.
pub(super) fn encode(path: &[u8], uri: &mut String) {
    uri.extend(percent_encoding::percent_encode(path, ENCODED));
}

/// Whether `text` begins with `file:`, in any case.
pub(super) fn is_file_uri(text: &str) -> bool {
    text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Whether RFC 3986 requires no further encoding. Input is parsed leniently, but must not be echoed that way.
pub(super) fn is_well_formed(uri: &str) -> bool {
    let bytes = uri.as_bytes();
    let is_encoded = |at: usize| bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
    let may_stand = |at: usize, byte: u8| match byte {
        b'%' => is_encoded(at),
        b'"' | b'<' | b'>' | b'[' | b'\\' | b']' | b'^' | b'`' | b'{' | b'|' | b'}' => false,
        byte => byte.is_ascii_graphic(),
    };
    bytes.iter().enumerate().all(|(at, byte)| may_stand(at, *byte)) && uri.matches('#').count() <= 1
}

/// Parses a URI reference: `file:///path`, `file://localhost/path`, `file:/path`, or a relative one.
pub(super) fn decode(uri: &str) -> Result<UriPath, BadUri> {
    if !is_file_uri(uri) {
        return match scheme(uri) {
            Some(_) => Err(BadUri::Scheme),
            None if uri.starts_with('/') => decode_path(uri).map(UriPath::Absolute),
            None => decode_path(uri).map(UriPath::Relative),
        };
    }
    let rest = &uri[5..];
    let path = match rest.strip_prefix("//") {
        Some(after) => {
            let (host, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                // There it is a share (RFC 8089, appendix E.3), and the served directory may be on one.
                return if cfg!(windows) { decode_path(rest).map(UriPath::Absolute) } else { Err(BadUri::Host) };
            }
            path
        }
        None => rest,
    };
    decode_path(path).map(UriPath::Absolute)
}

/// The scheme of an absolute URI that is not a path: `http://…`, `mailto:…`. A single letter may be a Windows drive.
fn scheme(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (is_scheme && rest.starts_with("//")).then_some(scheme)
}

fn decode_path(path: &str) -> Result<Vec<u8>, BadUri> {
    let decoded: Vec<u8> = percent_encoding::percent_decode_str(path).collect();
    let separators = |bytes: &[u8]| bytes.iter().filter(|b| is_separator(**b)).count();
    if decoded.contains(&0) || separators(&decoded) != separators(path.as_bytes()) {
        return Err(BadUri::EncodedSeparator);
    }
    Ok(decoded)
}

fn is_separator(byte: u8) -> bool {
    byte == b'/' || (cfg!(windows) && byte == b'\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn absolute(path: &str) -> UriPath {
        UriPath::Absolute(path.as_bytes().to_vec())
    }

    #[test]
    fn every_way_to_write_a_file_uri_is_read() {
        for (uri, path) in [
            ("file:///a/b", "/a/b"),
            ("FILE://LocalHost/a/b", "/a/b"),
            ("file:/a/b", "/a/b"),
            ("file:///my%20file%20%C3%A9.txt", "/my file é.txt"),
            ("file:///my file é.txt", "/my file é.txt"),
            ("file:///50% plan", "/50% plan"),
            ("file:///a%2e%2e", "/a.."),
            ("file:///%252e%252e", "/%2e%2e"),
            ("file:///a#b", "/a#b"),
            ("file:///a\tb", "/a\tb"),
        ] {
            assert_eq!(decode(uri), Ok(absolute(path)), "{uri}");
        }
        assert_eq!(decode("notes.md"), Ok(UriPath::Relative(b"notes.md".to_vec())));
        assert_eq!(decode("a:b"), Ok(UriPath::Relative(b"a:b".to_vec())));
    }

    #[test]
    fn what_is_no_file_here_is_refused() {
        for (uri, want) in [
            ("http://x/y", BadUri::Scheme),
            #[cfg(unix)]
            ("file://host/a", BadUri::Host),
            #[cfg(unix)]
            ("file://..", BadUri::Host),
            ("file:///a%2Fb", BadUri::EncodedSeparator),
            ("file:///a%2fb", BadUri::EncodedSeparator),
            ("file:///a%00", BadUri::EncodedSeparator),
            ("..%2fsecret", BadUri::EncodedSeparator),
        ] {
            assert_eq!(decode(uri), Err(want), "{uri}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_itself(name in prop::collection::vec(1_u8..=255, 1..20)) {
            let path = [b"/", &name[..]].concat();
            let mut uri = "file://".to_owned();
            encode(&path, &mut uri);
            prop_assert!(uri.is_ascii());
            prop_assert!(url::Url::parse(&uri).is_ok());
            prop_assert_eq!(decode(&uri), Ok(UriPath::Absolute(path)));
        }

        #[test]
        fn tokens_that_confuse_parsers_never_add_a_component(
            tokens in prop::collection::vec(
                prop::sample::select(vec!["..", ".", "/", "%2e", "%2E", "%2f", "%5c", "\\", "%25", "%", "a", "%00", "?", "#", ":"]),
                0..8,
            )
        ) {
            let path = tokens.concat();
            if let Ok(UriPath::Absolute(decoded)) = decode(&format!("file:///{path}")) {
                let written = path.matches('/').count();
                prop_assert_eq!(memchr::memchr_iter(b'/', &decoded).count(), written + 1);
            }
        }
    }
}
