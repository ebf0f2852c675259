//! What a file contains: text or not, and its media type.
//!
//! A name tells what a file is meant to be, which is all that `resources/list` has, since it reads nothing. Once bytes
//! are read they decide: a `.png` that contains a JPEG is `image/jpeg`, and a picture whose name ends in `.txt` is not
//! text. That matters, because clients pass pictures on to a model, and one that does not match its type ends the
//! conversation with an error.
//!
//! Encodings other than UTF-8, lines and windows of lines are up to `text`; the disk is up to `root`.

mod pixels;
mod tables;

use memchr::{memchr, memmem};

pub(super) use self::pixels::pixels;
pub(super) use self::tables::BINARY as UNKNOWN;
use self::tables::{BINARY, EXTENSIONS, NAMES, PLAIN, TEXT_TYPES, Table};

/// How many bytes of a file identify its format. Enough for every signature, and a limit on the cost of hostile
/// content.
const HEAD: usize = 4096;

/// The media type suggested by a file's name (or path); `application/octet-stream` if the name suggests nothing.
pub(super) fn media_type_of_name(name: &[u8]) -> &'static str {
    let name = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    if let Some(known) = look_up(NAMES, name) {
        return known;
    }
    // A leading dot hides a file; it does not start an extension.
    let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&at| at > 0);
    if let Some(extension) = dot.map(|at| &name[at + 1..]) {
        let guess = || mime_guess::from_ext(std::str::from_utf8(extension).ok()?).first_raw();
        if let Some(known) = look_up(EXTENSIONS, extension).or_else(guess) {
            return known;
        }
    }
    let part = name.iter().skip(1).position(|byte| matches!(byte, b'.' | b'-' | b'_'));
    part.and_then(|at| look_up(NAMES, &name[..=at])).unwrap_or(BINARY)
}

/// The media type of a file whose content, or first 4 KiB, is known: what the content proves, else what the name
/// suggests.
///
/// `is_text` comes from the caller, which may know more encodings than UTF-8. If set, it rules out every binary type;
/// if not, every textual one.
pub(super) fn media_type(name: &[u8], content: &[u8], is_text: bool) -> &'static str {
    let promised = media_type_of_name(name);
    if is_text {
        return if is_text_type(promised) { promised } else { PLAIN };
    }
    // A picture of a kind that clients show would have been recognised. Audio files may begin with anything.
    let refuted = promised == BINARY || is_text_type(promised) || kind_of(promised) == Some(MediaKind::Image);
    let is_media = |media_type: &str| media_type.starts_with("image/") || media_type.starts_with("audio/");
    // Raw photographs are TIFF inside, and HEIC is a kind of HEIF: there the name is more precise.
    let is_family = |media_type: &str| matches!(media_type, "image/tiff" | "image/heif");
    match sniff(content).filter(|found| !is_text_type(found)) {
        Some(found) if refuted || kind_of(found).is_some() => found,
        Some(found) if is_media(promised) && is_media(found) && !is_family(found) => found,
        None if refuted => BINARY,
        _ => promised,
    }
}

/// Kinds of media that clients and models accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaKind {
    /// PNG, JPEG, GIF or WebP.
    Image,
    /// WAV, MP3, Ogg, FLAC, M4A or AAC.
    Audio,
}

/// Whether the content is an image or audio that clients accept, and its media type. The first 4 KiB suffice.
pub(super) fn media_kind(content: &[u8]) -> Option<(MediaKind, &'static str)> {
    let found = sniff(content)?;
    kind_of(found).map(|kind| (kind, found))
}

/// The text of bytes that may end in the middle of a character, whose part is left out. `None` if they are not UTF-8.
pub(super) fn utf8_prefix(bytes: &[u8]) -> Option<&str> {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => simdutf8::basic::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

fn look_up(table: &'static Table, key: &[u8]) -> Option<&'static str> {
    let found = table.binary_search_by(|(known, _)| known.bytes().cmp(key.iter().map(u8::to_ascii_lowercase)));
    found.ok().map(|at| table[at].1)
}

fn is_text_type(media_type: &str) -> bool {
    let textual = |affix: &str| media_type.ends_with(affix);
    media_type.starts_with("text/")
        || media_type.starts_with("message/")
        || textual("+json")
        || textual("+xml")
        || textual("+yaml")
        || TEXT_TYPES.binary_search(&media_type).is_ok()
}

fn kind_of(media_type: &str) -> Option<MediaKind> {
    match media_type {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Some(MediaKind::Image),
        "audio/wav" | "audio/mpeg" | "audio/ogg" | "audio/flac" | "audio/mp4" | "audio/aac" => Some(MediaKind::Audio),
        _ => None,
    }
}

/// The media type of binary content, by the name that clients know. Not for text, where "BM..." is not a picture.
fn sniff(content: &[u8]) -> Option<&'static str> {
    let head = &content[..content.len().min(HEAD)];
    if looks_like_text(head) {
        return None;
    }
    let Some(found) = infer::get(head) else { return sniff_unknown(head) };
    match found.mime_type() {
        // infer checks only two to four bytes of these, or not the container. Data may begin that way by chance, and a
        // PNG whose line endings were converted is broken.
        "image/bmp" if head.get(6..10) != Some(&[0; 4]) => None,
        "image/gif" if !head.starts_with(b"GIF8") => None,
        "image/png" if !head.starts_with(b"\x89PNG\r\n\x1a\n") => None,
        "image/webp" if !head.starts_with(b"RIFF") => None,
        "audio/aac" if matches!(head, [_, _, rate, ..] if rate >> 2 & 15 > 12) => None,
        "audio/mpeg" if matches!(head, [0xff, _, rate, ..] if rate >> 4 == 15 || rate >> 2 & 3 == 3) => None,
        "audio/ogg" | "audio/opus" => Some(if is_ogg_video(head) { "video/ogg" } else { "audio/ogg" }),
        "audio/m4a" => Some("audio/mp4"),
        "audio/x-aiff" => Some("audio/aiff"),
        "audio/x-flac" => Some("audio/flac"),
        "audio/x-wav" => Some("audio/wav"),
        known => Some(known),
    }
}

/// Formats that infer lacks and whose names mislead: `.ts` means TypeScript first, and audio books are M4A.
fn sniff_unknown(head: &[u8]) -> Option<&'static str> {
    let has = |at: usize, bytes: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(bytes));
    // MPEG transport streams consist of packets of 188 bytes; on the cards of cameras (`.mts`) a time stamp precedes
    // each.
    let transport_stream = has(0, b"G") && has(188, b"G") || has(4, b"G") && has(196, b"G");
    if has(4, b"ftypM4B ") {
        Some("audio/mp4")
    } else if transport_stream {
        Some("video/mp2t")
    } else {
        None
    }
}

/// Whether an Ogg file has a video track. The first page of each track precedes all data.
fn is_ogg_video(head: &[u8]) -> bool {
    [&b"\x80theora"[..], b"OVP80", b"BBCD\0", b"\x01video\0"].iter().any(|track| memmem::find(head, track).is_some())
}

/// Whether this may be text, in UTF-8 or an older encoding: binary formats have control bytes near the start.
fn looks_like_text(head: &[u8]) -> bool {
    let is_control = |&byte: &u8| matches!(byte, 1..=8 | 11 | 14..=26 | 28..=31);
    memchr(0, head).is_none() && (utf8_prefix(head).is_some() || !head.iter().any(is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0";
    const MP3: &[u8] = b"\xff\xfb\x90\x64\0\0";
    const M4A: &[u8] = b"\0\0\0\x1cftypM4A \0\0\0\0M4A mp42isom";
    const MP4: &[u8] = b"\0\0\0\x18ftypisom\0\0\0\0isommp42";
    const TIFF: &[u8] = b"II*\0\x08\0\0\0\0\0\0\0";
    const HEIF: &[u8] = b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic";

    #[test]
    fn tables_are_sorted_and_say_what_mime_guess_does_not() {
        for table in [NAMES, EXTENSIONS] {
            assert!(table.is_sorted_by(|one, next| one.0 < next.0));
            assert!(table.iter().all(|(key, _)| !key.bytes().any(|byte| byte.is_ascii_uppercase())));
        }
        assert!(TEXT_TYPES.is_sorted_by(|one, next| one < next));
        for &(extension, media_type) in EXTENSIONS {
            assert_ne!(mime_guess::from_ext(extension).first_raw(), Some(media_type), "{extension}");
        }
    }

    #[test]
    fn names() {
        for (names, media_type) in [
            ("a.ts a.mts a.cts A.TS src/deep/b.d.ts", "text/typescript"),
            ("a.tsx", "text/tsx"),
            ("a.jsx", "text/jsx"),
            ("a.js a.mjs a.cjs", "text/javascript"),
            ("main.go", "text/x-go"),
            ("main.rs", "text/x-rust"),
            ("a.py", "text/x-python"),
            ("a.kt a.kts", "text/x-kotlin"),
            ("a.sh a.bash .bashrc configure", "text/x-shellscript"),
            ("Cargo.toml", "application/toml"),
            ("a.yml a.YAML", "application/yaml"),
            ("a.json a.ipynb .babelrc", "application/json"),
            ("a.jsonl a.ndjson", "application/x-ndjson"),
            ("README.md", "text/markdown"),
            ("a.rst", "text/x-rst"),
            ("a.c a.h", "text/x-c"),
            ("a.cc a.cpp a.hpp", "text/x-c++"),
            ("a.html", "text/html"),
            ("a.svg", "image/svg+xml"),
            ("Dockerfile dir/dockerfile Dockerfile.dev web.dockerfile Containerfile", "text/x-dockerfile"),
            ("Makefile GNUmakefile Makefile.linux rules.mk", "text/x-makefile"),
            ("CMakeLists.txt", "text/x-cmake"),
            ("a.txt a.log a.lock a.ini a.cfg a.conf a.tf a.bat go.mod a.asm", "text/plain"),
            (".gitignore .gitattributes .editorconfig .env .env.example .env.local", "text/plain"),
            ("LICENSE LICENSE-MIT License.apache README COPYING id.pub", "text/plain"),
            ("a.wasm", "application/wasm"),
            ("a.png a.PNG ..png", "image/png"),
            ("a.avif", "image/avif"),
            ("a.webp", "image/webp"),
            ("a.jxl", "image/jxl"),
            ("a.heic", "image/heic"),
            ("a.m4a", "audio/mp4"),
            ("a.flac", "audio/flac"),
            ("a.opus a.ogg", "audio/ogg"),
            ("a.zip", "application/zip"),
            ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("a unknown a.qqq .png . .. a. liba.so.1 .DS_Store d/ txt", BINARY),
        ] {
            for name in names.split(' ') {
                assert_eq!(media_type_of_name(name.as_bytes()), media_type, "{name}");
            }
        }
        assert_eq!(media_type_of_name(b""), BINARY);
        assert_eq!(media_type_of_name(b"\xff\xfe.rs"), "text/x-rust");
        assert_eq!(media_type_of_name(b"a.\xff"), BINARY);
    }

    #[test]
    fn content_decides() {
        let mut stream = vec![0xff; 400];
        (stream[0], stream[188], stream[1]) = (b'G', b'G', 0);
        for (name, content, is_text, expected) in [
            // Text confirms a textual name and refutes any other.
            ("a.rs", &b"fn main() {}"[..], true, "text/x-rust"),
            ("a.svg", b"<svg/>", true, "image/svg+xml"),
            ("a.json", b"{}", true, "application/json"),
            ("a.toml", b"", true, "application/toml"),
            ("a.png", b"BM is no picture", true, PLAIN),
            ("a.zip", b"PK", true, PLAIN),
            ("unknown", b"GIF89a, a format", true, PLAIN),
            // Binary content refutes a textual name.
            ("a.txt", PNG, false, "image/png"),
            ("README", JPEG, false, "image/jpeg"),
            ("a.svgz.svg", b"\x1f\x8b\x08\0", false, "application/gzip"),
            ("a.txt", b"BM: Stra\xdfe", false, BINARY),
            ("a.txt", b"a\0b", false, BINARY),
            ("a.html", b"<html>\0", false, BINARY),
            ("a.ts", &stream, false, "video/mp2t"),
            // Images and audio are what they are.
            ("a.png", JPEG, false, "image/jpeg"),
            ("a.png", b"\0garbage", false, BINARY),
            ("a.png", HEIF, false, "image/heif"),
            ("a.wav", MP3, false, "audio/mpeg"),
            ("a.mp3", b"\0padding", false, "audio/mpeg"),
            ("a.pdf", PNG, false, "image/png"),
            ("unknown", M4A, false, "audio/mp4"),
            ("a.tif", b"BM\x9a\0\0\0\0\0\0\0", false, "image/bmp"),
            // A more precise name is kept.
            ("a.heic", HEIF, false, "image/heic"),
            ("a.nef", TIFF, false, "image/x-nikon-nef"),
            ("a.jar", b"PK\x03\x04\x14\0", false, "application/java-archive"),
            ("a.mp4", MP4, false, "video/mp4"),
        ] {
            assert_eq!(media_type(name.as_bytes(), content, is_text), expected, "{name} {content:?}");
        }
    }

    #[test]
    fn media_that_clients_take() {
        use MediaKind::{Audio, Image};
        for (content, media) in [
            (PNG, Some((Image, "image/png"))),
            (JPEG, Some((Image, "image/jpeg"))),
            (b"GIF89a\x01\0\x01\0\0\0\0;", Some((Image, "image/gif"))),
            (b"RIFF\x1a\0\0\0WEBPVP8L", Some((Image, "image/webp"))),
            (b"RIFF\x24\0\0\0WAVEfmt ", Some((Audio, "audio/wav"))),
            (MP3, Some((Audio, "audio/mpeg"))),
            (b"ID3\x04\0\0\0\0\0\0", Some((Audio, "audio/mpeg"))),
            (b"OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead", Some((Audio, "audio/ogg"))),
            (b"OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x1e\x01vorbis", Some((Audio, "audio/ogg"))),
            (b"fLaC\0\0\0\x22", Some((Audio, "audio/flac"))),
            (M4A, Some((Audio, "audio/mp4"))),
            (b"\0\0\0\x1cftypM4B \0\0\0\0M4B ", Some((Audio, "audio/mp4"))),
            (b"\xff\xf1\x50\x80\x02\x1f\xfc", Some((Audio, "audio/aac"))),
            (b"OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x2a\x80theora", None),
            (MP4, None),
            (b"\0\0\0\x18ftypM4V \0\0\0\0", None),
            (TIFF, None),
            (b"BM\x9a\0\0\0\0\0\0\0", None),
            (b"\x89PNG\n\x1a\n\0\0\0\rIHDR", None),
            (b"\0\0\0\0\0\0\0\0WEBP", None),
            (b"\xff\xfb\xff\xfb\0\0", None),
            (b"", None),
            (b"\x89", None),
            // Text in UTF-8 or Latin-1 that begins like a binary format.
            (b"GIF89a is a format", None),
            (b"ID3 tags\x08", None),
            (b"OggS f\xfcr alle", None),
        ] {
            assert_eq!(media_kind(content), media, "{content:?}");
        }
    }

    #[test]
    fn text_is_utf8_without_nul() {
        for (bytes, expected) in [
            (&b""[..], true),
            (b"a\r\n\t\x1b[0m", true),
            ("\u{feff}\u{fffd}\u{10ffff}".as_bytes(), true),
            (b"a\0", false),
            (b"\xe9t\xe9", false),
            (b"\xed\xa0\x80", false),
            (b"\xe2\x82", false),
        ] {
            assert_eq!(crate::text::is_text(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_prefix_may_end_within_a_character() {
        let text = "a\u{e9}\u{20ac}\u{1f600}".repeat(40);
        for end in 0..=text.len() {
            let whole = (0..=end).rev().find(|&at| text.is_char_boundary(at));
            assert_eq!(utf8_prefix(&text.as_bytes()[..end]), whole.map(|at| &text[..at]));
        }
        for invalid in [&b"\xe9t"[..], b"a\xff", b"\xe0\x80", b"\xc0", b"\x80", b"\xf0\x9f\x98\xff"] {
            assert_eq!(utf8_prefix(invalid), None, "{invalid:?}");
        }
    }
}
