//! What the detector of legacy encodings gets to see of a text. It takes 0.2 microseconds per byte, forty times as long
//! as decoding, so it sees only a few pieces that contain more than ASCII.
//!
//! A piece begins at a character: at the beginning of a text or line, or after plain ASCII from there. It ends at a
//! line end. Together, the pieces are a text in the same encoding.

use encoding_rs::Encoding;

/// The limit of all pieces, in bytes.
pub(super) const SEEN: usize = 16 << 10;
/// How many stretches of a long text yield a piece each.
const STRETCHES: usize = 4;
/// How many bytes of ASCII are kept before the first other byte: letters help to interpret the byte next to them.
const LEAD: usize = 64;

/// The pieces of a text in order; of a short text, all of it.
pub(super) fn pieces(text: &[u8]) -> Vec<&[u8]> {
    if text.len() <= SEEN {
        return vec![text];
    }
    let lines = text.chunks(text.len().div_ceil(STRETCHES)).enumerate();
    let lines = lines.filter_map(|(index, stretch)| if index == 0 { Some(stretch) } else { after_newline(stretch) });
    let pieces: Vec<_> = lines.filter_map(|stretch| piece(stretch, SEEN / STRETCHES)).collect();
    if pieces.is_empty() { one_piece(text).into_iter().collect() } else { pieces }
}

/// Whole lines from the first one that is more than ASCII, at most `most` bytes. The stretch begins at a character.
fn piece(stretch: &[u8], most: usize) -> Option<&[u8]> {
    let rest = from_first_special(stretch)?;
    let rest = &rest[..rest.len().min(most)];
    memchr::memrchr(b'\n', rest).map(|end| &rest[..=end])
}

/// For a text without such lines: the first bytes that are more than ASCII. It may end in the middle of a character,
/// which the detector accepts at the end.
fn one_piece(text: &[u8]) -> Option<&[u8]> {
    from_first_special(text).map(|rest| &rest[..rest.len().min(SEEN)])
}

/// From the first byte that is not ASCII, with some ASCII before it.
fn from_first_special(text: &[u8]) -> Option<&[u8]> {
    let special = Encoding::ascii_valid_up_to(text);
    (special < text.len()).then(|| &text[special.saturating_sub(LEAD)..])
}

fn after_newline(stretch: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b'\n', stretch).map(|at| &stretch[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &[u8]) -> usize {
        pieces(text).iter().map(|piece| piece.len()).sum()
    }

    #[test]
    fn little_is_seen_of_a_long_text_whatever_it_holds() {
        for unit in [&b"\xFF"[..], b"\xC6\xFC\xCB\xDC\xB8\xEC", b"a\xE9\n", b"\n\xE9", b"\xE9 \xE9\xE9\r\n"] {
            for length in [SEEN + 1, 5 * SEEN, 3_500_000] {
                let text: Vec<u8> = unit.iter().copied().cycle().take(length).collect();
                assert!((1..=SEEN).contains(&seen(&text)), "{unit:?}: {}", seen(&text));
            }
        }
        assert_eq!(pieces(b"short \xE9"), [b"short \xE9"]);
        assert!(pieces(&b"a\n".repeat(SEEN)).is_empty(), "ASCII tells nothing");
    }

    #[test]
    fn one_special_byte_anywhere_is_seen() {
        let text = b"plain line\n".repeat(10_000);
        for at in [0, 5, 30_000, 54_321, text.len() - 2] {
            let mut text = text.clone();
            text[at] = 0xE9;
            assert!(pieces(&text).iter().any(|piece| piece.contains(&0xE9)), "at {at}");
        }
    }

    #[test]
    fn pieces_are_cut_between_characters() {
        // Trail bytes of Shift_JIS may be ASCII, but never a line end.
        let line = b"\x83\x5C\x83\x5C abc \x83\x5C\n";
        let text = line.repeat(20_000);
        for piece in pieces(&text) {
            let (_, had_errors) = encoding_rs::SHIFT_JIS.decode_without_bom_handling(piece);
            assert!(!had_errors && piece.ends_with(b"\n"));
        }
        assert_eq!(pieces(&text).len(), STRETCHES);
    }
}
