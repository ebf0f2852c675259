//! The width and height of a picture, read from its header without decoding it.
//!
//! The crate for this (imagesize 0.15) misreads a JPEG with fill bytes between its segments, and takes the scale of a
//! lossy WebP for part of its width. Each of the four headers has its size at a few fixed positions.

/// Width and height in pixels; `None` if the header does not tell. The content must be the whole file: in a JPEG, long
/// segments may precede the size.
pub(crate) fn pixels(content: &[u8]) -> Option<(u32, u32)> {
    match content {
        [0x89, b'P', b'N', b'G', ..] => png(content),
        [b'G', b'I', b'F', b'8', ..] => Some((little(content, 6, 2)?, little(content, 8, 2)?)),
        [b'R', b'I', b'F', b'F', ..] => webp(content),
        [0xFF, 0xD8, 0xFF, ..] => jpeg(content),
        _ => None,
    }
}

fn png(content: &[u8]) -> Option<(u32, u32)> {
    let has_header = content.get(12..16)? == b"IHDR";
    has_header.then(|| Some((big(content, 16, 4)?, big(content, 20, 4)?)))?
}

fn webp(content: &[u8]) -> Option<(u32, u32)> {
    // 14 bits each; the two above are a scaling factor.
    let low = |bits: u32| bits & 0x3FFF;
    match content.get(12..16)? {
        b"VP8 " => Some((low(little(content, 26, 2)?), low(little(content, 28, 2)?))),
        b"VP8L" => {
            let bits = little(content, 21, 4)?;
            Some((low(bits) + 1, low(bits >> 14) + 1))
        }
        b"VP8X" => Some((little(content, 24, 3)? + 1, little(content, 27, 3)? + 1)),
        _ => None,
    }
}

/// Skips segments up to the one that begins the frame.
fn jpeg(content: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        // Any number of fill bytes may precede a marker.
        let fill = content.get(at..)?.iter().take_while(|byte| **byte == 0xFF).count();
        let marker = *content.get(at + fill).filter(|_| fill > 0)?;
        at += fill + 1;
        match marker {
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some((big(content, at + 5, 2)?, big(content, at + 3, 2)?));
            }
            // Markers without content.
            0x01 | 0xD0..=0xD7 => {}
            // The image data or the end, before any size.
            0x00 | 0xD8..=0xDA => return None,
            _ => at += big(content, at, 2).filter(|length| *length >= 2)? as usize,
        }
    }
}

fn big(content: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(content.get(at..at + length)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little(content: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(content.get(at..at + length)?.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x23\x28\0\0\0\x0a\x08\x06\0\0\0";
    const GIF: &[u8] = b"GIF89a\x28\x23\x0a\0\0\0\0;";
    const LOSSY: &[u8] = b"RIFF\x1a\0\0\0WEBPVP8 \x10\0\0\0\0\0\0\x9d\x01\x2a\x28\x63\x0a\x80";
    const LOSSLESS: &[u8] = b"RIFF\x1a\0\0\0WEBPVP8L\x10\0\0\0\x2f\x27\x63\x02\0";
    const EXTENDED: &[u8] = b"RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x27\x23\0\x09\0\0";
    const FRAME: &[u8] = b"\xff\xc2\0\x11\x08\0\x0a\x23\x28\x03";

    #[test]
    fn each_header_gives_width_and_height() {
        let segment = [&b"\xff\xe1\x80\x02"[..], &vec![0xC0; 0x8000]].concat();
        let plain = [b"\xff\xd8\xff\xe0\0\x04JF", FRAME].concat();
        let filled = [b"\xff\xd8", &segment[..], b"\xff\xff\xff\xfe\0\x03c\xff\xff\x01", FRAME].concat();
        for picture in [PNG, GIF, LOSSY, LOSSLESS, EXTENDED, &plain, &filled] {
            assert_eq!(pixels(picture), Some((9_000, 10)), "{:?}", &picture[..4]);
        }
    }

    #[test]
    fn a_header_that_is_cut_or_wrong_says_nothing() {
        let jpeg = [b"\xff\xd8\xff\xe0\0\x04JF", FRAME].concat();
        for (picture, least) in [(PNG, 24), (GIF, 10), (LOSSY, 30), (LOSSLESS, 25), (EXTENDED, 30), (&jpeg, 17)] {
            for length in 0..least {
                assert_eq!(pixels(&picture[..length]), None, "{length} of {picture:?}");
            }
        }
        for wrong in
            [&b"\xff\xd8\xff\xe0\0\0"[..], b"\xff\xd8\xff\xe0\0\x01\xff", b"\xff\xd8\xff\xda\0\x02\xff\xc0", b"text"]
        {
            assert_eq!(pixels(wrong), None, "{wrong:?}");
        }
        assert_eq!(pixels(&[&b"\xff\xd8"[..], &vec![0xFF; 1 << 20]].concat()), None);
    }
}
