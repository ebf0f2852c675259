//! Detects the encoding of bytes, and converts between bytes and UTF-8.
//!
//! UTF-8, or UTF-16 with a byte order mark, or else the result of Firefox's detector, which is a guess and is labelled
//! as one. NUL bytes outside UTF-16, and bytes that are invalid in the encoding, mean that a file is binary.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, EncoderResult, UTF_8, UTF_16BE, UTF_16LE};

use super::evidence;
use crate::bytes::Bytes;
use crate::features::content;
use crate::text::Text;

/// Spare room if encoded text is longer than it was in UTF-8.
const ROOM: usize = 4 << 10;

/// An encoding, and whether a byte order mark is to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    table: &'static encoding_rs::Encoding,
    /// The length of the byte order mark.
    mark: usize,
    guessed: bool,
}

/// Detects the encoding of a file by its first bytes; `whole` if they are the whole file. `None` if it is binary.
pub(crate) fn detect(bytes: &[u8], whole: bool) -> Option<Encoding> {
    let known = |table, mark| Some(Encoding { table, mark, guessed: false });
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] if is_utf8(rest, whole) => known(UTF_8, 3),
        [0xFF, 0xFE, ..] => known(UTF_16LE, 2),
        [0xFE, 0xFF, ..] => known(UTF_16BE, 2),
        _ if is_utf8(bytes, whole) => known(UTF_8, 0),
        _ => Encoding::guess(bytes),
    }
}

/// The line endings in a text: `LF`, `CRLF`, `mixed`, or `none`. A lone `\r` does not end a line, which is mentioned
/// because some programs would count it.
pub(crate) fn line_ending(text: &str) -> &'static str {
    let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let crlf = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
    match (all, crlf) {
        (0, _) if text.contains('\r') => "CR only, counted as one line",
        (0, _) => "none",
        (_, 0) => "LF",
        (all, crlf) if all == crlf => "CRLF",
        _ => "mixed",
    }
}

/// Control characters that do not occur in text in a legacy encoding: all except white space, escape sequences and
/// DOS's end of file. If only NUL were excluded, a picture could pass as windows-1252.
fn is_never_text(byte: u8) -> bool {
    matches!(byte, 0..=6 | 0x0e..=0x19 | 0x1c..=0x1f | 0x7f)
}

fn is_utf8(bytes: &[u8], whole: bool) -> bool {
    if whole {
        return crate::text::is_text(bytes);
    }
    memchr::memchr(0, bytes).is_none() && content::utf8_prefix(bytes).is_some()
}

impl Encoding {
    /// UTF-8 as it is, including a byte order mark.
    pub(crate) const RAW_UTF8: Self = Self { table: UTF_8, mark: 0, guessed: false };

    /// The encoding of text that has no byte order mark and is not UTF-8. Only part of it is examined; decoding decides
    /// whether all of it is in that encoding.
    pub(crate) fn guess(bytes: &[u8]) -> Option<Self> {
        if bytes.iter().any(|byte| is_never_text(*byte)) {
            return None;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        for piece in evidence::pieces(bytes) {
            // Only the end of the text must not be in the middle of a character.
            detector.feed(piece, piece.len() == bytes.len());
        }
        Some(Self { table: detector.guess(None, Utf8Detection::Deny), mark: 0, guessed: true })
    }

    pub(crate) fn is_utf8(self) -> bool {
        self.table == UTF_8
    }

    /// Whether the encoding was only deduced from the text itself.
    pub(crate) fn is_guessed(self) -> bool {
        self.guessed
    }

    /// Whether a newline is a single byte, and that byte nothing else.
    pub(crate) fn has_plain_newlines(self) -> bool {
        self.table != UTF_16LE && self.table != UTF_16BE
    }

    /// Whether it is UTF-16 with the low byte first.
    pub(crate) fn is_little_endian(self) -> bool {
        self.table == UTF_16LE
    }

    /// The length of the byte order mark.
    pub(crate) fn mark(self) -> usize {
        self.mark
    }

    /// The same for bytes that are not from the beginning of the file.
    pub(crate) fn without_mark(self) -> Self {
        Self { mark: 0, ..self }
    }

    /// For people: `UTF-8`, `UTF-8 with BOM`, `windows-1252 (guessed)`.
    pub(crate) fn name(self) -> String {
        let name = self.table.name();
        match self {
            Self { guessed: true, .. } => format!("{name} (guessed)"),
            Self { mark: 0, .. } => name.to_owned(),
            _ => format!("{name} with BOM"),
        }
    }

    /// Whether an answer should mention the encoding: plain UTF-8 goes without saying.
    pub(crate) fn is_remarkable(self) -> bool {
        self.guessed || self.mark > 0
    }

    /// Its name in the Encoding Standard.
    pub(crate) fn label(self) -> &'static str {
        self.table.name()
    }

    /// The name of an encoding that is known rather than guessed.
    pub(crate) fn known_charset(self) -> Option<String> {
        (!self.guessed).then(|| self.table.name().to_ascii_lowercase())
    }

    /// A decoder for the bytes after the mark.
    pub(crate) fn decoder(self) -> Decoder {
        self.table.new_decoder_without_bom_handling()
    }

    /// All bytes of a file as text; returns them if they are not in this encoding.
    pub(crate) fn decode_whole(self, bytes: impl Into<Bytes>) -> Result<Text, Bytes> {
        let mut bytes = bytes.into();
        if self.is_utf8() {
            bytes.remove_front(self.mark);
            return Text::from_bytes(bytes);
        }
        match self.table.decode_without_bom_handling_and_without_replacement(&bytes[self.mark..]) {
            Some(text) if !text.contains('\0') => Ok(text.into_owned().into()),
            _ => Err(bytes),
        }
    }

    /// The first bytes of a file as text for inspection: what is cut off or invalid is replaced.
    pub(crate) fn decode_sample(self, bytes: &[u8]) -> Cow<'_, str> {
        self.table.decode_without_bom_handling(&bytes[self.mark..]).0
    }

    /// A text as the bytes of a file, with the byte order mark; or the first character that this encoding cannot
    /// represent.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        let units = |mut bytes: Vec<u8>, to_bytes: fn(u16) -> [u8; 2]| {
            bytes.reserve(text.len() * 2);
            bytes.extend(text.encode_utf16().flat_map(to_bytes));
            bytes
        };
        if self.is_utf8() {
            Ok([&b"\xEF\xBB\xBF"[..self.mark], text.as_bytes()].concat())
        } else if self.table == UTF_16LE {
            Ok(units(b"\xFF\xFE"[..self.mark].to_vec(), u16::to_le_bytes))
        } else if self.table == UTF_16BE {
            Ok(units(b"\xFE\xFF"[..self.mark].to_vec(), u16::to_be_bytes))
        } else {
            self.encode_legacy(text)
        }
    }

    fn encode_legacy(self, text: &str) -> Result<Vec<u8>, char> {
        let mut encoder = self.table.new_encoder();
        let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
        loop {
            let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
            match result {
                EncoderResult::InputEmpty => return Ok(bytes),
                EncoderResult::Unmappable(character) => return Err(character),
                EncoderResult::OutputFull => bytes.reserve(ROOM),
            }
            rest = &rest[read..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_apart() {
        for (bytes, want) in [
            (&b"plain"[..], Some("UTF-8")),
            (b"", Some("UTF-8")),
            ("é日".as_bytes(), Some("UTF-8")),
            (b"\xEF\xBB\xBFhello", Some("UTF-8 with BOM")),
            (b"\xFF\xFEh\0i\0", Some("UTF-16LE with BOM")),
            (b"\xFE\xFF\0h\0i", Some("UTF-16BE with BOM")),
            (b"caf\xe9 na\xefve, d\xe9j\xe0 vu", Some("windows-1252 (guessed)")),
            (b"a\0b", None),
            (b"\xEF\xBB\xBFa\0", None),
        ] {
            assert_eq!(detect(bytes, true).map(Encoding::name).as_deref(), want, "{bytes:?}");
        }
    }

    #[test]
    fn a_character_cut_off_at_the_end_of_a_sample_is_no_reason_to_guess() {
        let cut = &"日本".as_bytes()[..4];
        assert_eq!(detect(cut, false).map(Encoding::name).as_deref(), Some("UTF-8"));
        assert_ne!(detect(cut, true).map(Encoding::name).as_deref(), Some("UTF-8"));
    }

    #[test]
    fn what_was_decoded_is_encoded_to_the_same_bytes() {
        let every_byte_of_text: Vec<u8> = (b' '..=b'~').chain(0x80..=0xFF).collect();
        for bytes in [
            &b"plain"[..],
            b"",
            b"\xEF\xBB\xBFhello",
            b"\xFF\xFEh\0\x3D\xD8\x00\xDE",
            b"\xFE\xFF\0h\xD8\x3D\xDE\x00",
            b"caf\xe9 na\xefve, d\xe9j\xe0 vu",
            "日本語".repeat(3).as_bytes(),
            &b"\x93\xfa\x96\x7b\x8c\xea\x82\xc5\x82\xb7\x81\x42".repeat(2_000),
            &every_byte_of_text,
        ] {
            let encoding = detect(bytes, true).expect("text");
            let text = encoding.decode_whole(bytes.to_vec()).expect("in this encoding");
            assert_eq!(encoding.encode(text.as_str()).as_deref(), Ok(bytes), "{}", encoding.name());
        }
    }

    /// What is examined of a long text must lead to the same result as all of it, wherever its characters are.
    #[test]
    fn long_texts_are_taken_for_what_short_ones_are() {
        for (label, text) in [
            ("EUC-JP", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\r\n"),
            ("Shift_JIS", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"),
            ("GBK", "我们的程序读取文件，然后把它们写回去。\n"),
            ("windows-1251", "Мама мыла раму, а кот спал на окне.\n"),
            ("windows-1252", "Där är en älg på vägen; mañana, déjà vu.\n"),
        ] {
            let line = encoding_rs::Encoding::for_label(label.as_bytes()).expect("known").encode(text).0.into_owned();
            let name = |bytes: &[u8]| Encoding::guess(bytes).map(Encoding::label);
            assert_eq!(name(&line.repeat(4)), Some(label));
            let plain = b"plain line\n".repeat(20_000);
            let one_line = line.strip_suffix(b"\n").expect("a line").repeat(4_000);
            for bytes in [line.repeat(10_000), [&plain[..], &line.repeat(9), &plain].concat(), one_line] {
                assert_eq!(name(&bytes), Some(label), "{} bytes", bytes.len());
                assert!(Encoding::guess(&bytes).expect("text").decode_whole(bytes).is_ok(), "{label}");
            }
        }
    }

    #[test]
    fn a_character_that_an_encoding_does_not_have_is_named() {
        let encoding = Encoding::guess(b"caf\xe9 na\xefve, d\xe9j\xe0 vu").expect("text");
        assert_eq!(encoding.encode("café, 日本"), Err('日'));
    }

    #[test]
    fn line_endings_are_named() {
        assert_eq!(["a", "a\nb", "a\r\nb\r\n", "a\r\nb\n"].map(line_ending), ["none", "LF", "CRLF", "mixed"]);
        assert_eq!(["a\u{2028}b", "a\rb\n"].map(line_ending), ["none", "LF"]);
        assert!(line_ending("a\rb\r").starts_with("CR only"));
    }
}
