//! Input other than requests: broken lines, blanks, responses, notifications; and lines of the maximum size and beyond.

use serde_json::json;

use crate::expect::Expect;
use crate::traffic::{Piece, Traffic};

/// Bytes of the longest line that the server reads.
const LONGEST_LINE: usize = 32 << 20;

impl Traffic<'_> {
    pub(crate) fn noise(&mut self) -> Piece {
        match self.rng.u32(0..12) {
            0 => Piece::line(self.pick(&["", "  \t", "\r", "\u{feff}"])),
            1 => self.surrounded(),
            2 => {
                Piece::broken(self.pick(&["{", "nonsense", "{\"jsonrpc\":\"2.0\",\"id\":1", "{'a':1}", "[1,", "\u{0}"]))
            }
            3 => Piece::broken(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"),
            4 => Piece::broken(self.pick(&["1", "null", "\"text\"", "{}", "{\"id\":null,\"method\":\"ping\"}"])),
            5 => self.random_bytes(),
            6 => Piece::line(json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string()),
            7 => Piece::line(json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": ""}}).to_string()),
            8 => Piece::line(json!({"jsonrpc": "2.0", "method": "notifications/none", "params": [1]}).to_string()),
            9 => Piece::line(
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0.5}})
                    .to_string(),
            ),
            10 => self.nested(),
            _ => {
                let id = self.new_id();
                let message = json!({"jsonrpc": "1.0", "id": id, "method": "ping"});
                Piece { expected: vec![(id, Expect::Fails)], ..Piece::line(message.to_string()) }
            }
        }
    }

    /// A request surrounded by insignificant text.
    fn surrounded(&mut self) -> Piece {
        let mut piece = self.request_in(false, "ping", json!({}), Expect::Works);
        let before: &[u8] = self.pick(&[&b"\xEF\xBB\xBF"[..], b"\n\n", b"  ", b"\r\n"]);
        let line = piece.bytes.strip_suffix(b"\n").expect("a line");
        piece.bytes = [before, line, b"\r\n"].concat();
        piece
    }

    /// A line that cannot be a message, with any bytes except newlines.
    fn random_bytes(&mut self) -> Piece {
        let length = self.rng.usize(1..2_000);
        let bytes = (0..length).map(|_| self.rng.u8(..)).filter(|byte| !b"\n\r".contains(byte));
        Piece::broken([vec![b'!'], bytes.collect()].concat())
    }

    /// Nested deeper than any parser should accept.
    fn nested(&mut self) -> Piece {
        let depth = self.pick(&[50, 127, 1_000, 20_000]);
        let id = self.new_id();
        let (open, close) = if self.rng.bool() { ("[", "]") } else { ("{\"a\":", "}") };
        let value = format!("{}0{}", open.repeat(depth), close.repeat(depth));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"params\":{{\"deep\":{value}}}}}");
        Piece { expected: vec![(id, Expect::Any)], ..Piece::line(line) }
    }

    /// A line of the maximum size, one byte more, or far more.
    pub(crate) fn huge(&mut self) -> Piece {
        if self.rng.u32(0..10) > 0 {
            return Piece::default(); // such lines take their time
        }
        let id = self.new_id();
        let (begin, end) =
            (format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"params\":{{\"pad\":\""), "\"}}");
        let more = self.pick(&[0, 0, 1, 70_000, usize::MAX]).min(LONGEST_LINE);
        let pad = LONGEST_LINE + more - begin.len() - end.len();
        let line = format!("{begin}{}{end}", "x".repeat(pad));
        if more > 0 {
            return Piece { is_refused_unread: true, ..Piece::broken(line) };
        }
        Piece { expected: vec![(id, Expect::Works)], ..Piece::line(line) }
    }
}
