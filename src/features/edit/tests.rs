//! Edits, byte for byte: one test for each public bug report, and properties of random edits.

use proptest::prelude::*;

use super::*;

fn apply(file: &[u8], edits: &[Edit], replace_all: bool) -> Result<Edited, EditError> {
    super::apply(file, edits, replace_all, &Cancel::default())
}

fn edit(old_text: &str, new_text: &str) -> Edit {
    Edit { old_text: old_text.to_owned(), new_text: new_text.to_owned() }
}

/// One edit, as bytes.
fn edited(file: impl AsRef<[u8]>, old: &str, new: &str) -> Vec<u8> {
    let edited = apply(file.as_ref(), &[edit(old, new)], false).unwrap_or_else(|error| panic!("{old:?}: {error}"));
    assert_eq!(edited.replaced, 1);
    edited.bytes
}

/// Why the edits failed.
fn refused(file: impl AsRef<[u8]>, edits: &[Edit]) -> String {
    apply(file.as_ref(), edits, false).expect_err("an error").to_string()
}

fn utf16(text: &str) -> Vec<u8> {
    b"\xFF\xFE".iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

#[test]
fn a1_an_edit_of_a_crlf_file_leaves_crlf() {
    assert_eq!(edited("one\r\ntwo\r\nthree\r\n", "two", "TWO"), b"one\r\nTWO\r\nthree\r\n");
}

#[test]
fn a2_every_line_of_a_mixed_file_keeps_its_own_ending() {
    assert_eq!(edited("one\r\ntwo\nthree\r\n", "three", "THREE"), b"one\r\ntwo\nTHREE\r\n");
    assert_eq!(edited("one\r\ntwo\nthree\r\n", "one\ntwo\nthree\n", "one\nTWO\nthree\n"), b"one\r\nTWO\nthree\r\n");
}

#[test]
fn a3_any_line_ending_matches_any_and_the_files_own_is_written() {
    for (file, old, new, want) in [
        ("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\rb\r", "a\nb", "x\r\ny\nz", "x\ry\rz\r"),
        // More lines than before: they end like the last replaced one.
        ("a\r\nb\nc", "a\nb\n", "x\ny\nz\n", "x\r\ny\nz\nc"),
        // Without one there: like the line before, else the line after, else as given.
        ("a\r\nb\nc", "b", "x\ny", "a\r\nx\r\ny\nc"),
        ("a\r\nb\n", "a", "x\ny", "x\r\ny\r\nb\n"),
        ("a", "a", "x\r\ny\nz", "x\r\ny\nz"),
        // Lines that are repeated only as context keep their endings.
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nb\nnew\nc\n", "a\r\nb\nnew\nc\r\n"),
        ("a\r\nb\nc\r\n", "b\nc", "new\nb\nc", "a\r\nnew\nb\nc\r\n"),
        // In a file with other line endings, a lone CR is a character.
        ("10%\r20%\nend\n", "20%\n", "30%\r\n", "10%\r30%\nend\n"),
        ("a\n\r\n", "a\n", "", "\r\n"),
    ] {
        assert_eq!(String::from_utf8(edited(file, old, new)).unwrap(), want, "{file:?}: {old:?} -> {new:?}");
    }
}

#[test]
fn a5_the_new_text_is_taken_literally() {
    for new in ["$&", "$$", "$'", "$`", "$1", "${1}", r"\1", r"\n", r"\0", "TOKEN"] {
        assert_eq!(edited("p=TOKEN;", "TOKEN", new), format!("p={new};").as_bytes());
    }
}

#[test]
fn a6_several_places_are_refused_with_their_number_and_lines() {
    let error = refused("foo();\nbar\nfoo();\n", &[edit("foo();", "x")]);
    assert!(error.contains("2 times, at lines 1, 3;") && error.contains("replaceAll"), "{error}");
}

#[test]
fn a7_a_text_that_is_not_there_is_answered_with_the_nearest_lines() {
    for old in ["  foo()\n  other();", "foo();\n\nx", "    foo();"] {
        let error = refused("head\n\tfoo();\ntail\n", &[edit(old, "x")]);
        assert!(error.contains("\n2: \tfoo();\n") && error.contains("Read the file again"), "{error}");
    }
    let long = format!("start\n{}", "needle in a very long line ".repeat(10_000));
    let error = refused(&long, &[edit(&long.replace("start", "start of"), "x")]);
    assert!(error.contains("\n2: needle in a very") && error.len() < 1_000, "{} {error}", error.len());
}

#[test]
fn a13_legacy_bytes_are_kept_and_new_text_gets_the_same_encoding() {
    let file = b"caf\xe9 na\xefve\n";
    assert_eq!(edited(file, "na", "NA"), b"caf\xe9 NA\xefve\n");
    assert_eq!(edited(file, "café", "thé à"), b"th\xe9 \xe0 na\xefve\n");
    let edited = apply(file, &[edit("na", "NA")], false).expect("an edit");
    assert_eq!(edited.encoding.as_deref(), Some("windows-1252 (guessed)"));
    let error = refused(file, &[edit("na", "日")]);
    assert!(error.contains("'日'") && error.contains("windows-1252") && error.contains("UTF-8"), "{error}");
}

#[test]
fn a13_bytes_that_would_not_be_written_back_as_they_are_are_not_touched() {
    // Two codes of Shift_JIS for the same character: decoding loses which one it was.
    let file =
        [&b"\x93\xfa\x96\x7b\x8c\xea\x82\xc5\x82\xb7\x81\x42".repeat(20), &b"\x87\x90 \x81\xe0 text\n"[..]].concat();
    let error = refused(&file, &[edit("text", "TEXT")]);
    assert!(error.contains("Shift_JIS") && error.contains("not certain"), "{error}");
}

#[test]
fn a14_a_byte_order_mark_stays_and_is_not_part_of_the_text() {
    assert_eq!(edited(b"\xEF\xBB\xBFhello\n", "hello", "bye"), b"\xEF\xBB\xBFbye\n");
    assert_eq!(edited(utf16("hello\r\nyou\r\n"), "hello\nyou", "bye\n😀"), utf16("bye\r\n😀\r\n"));
    let big_endian =
        |text: &str| [b"\xFE\xFF", &text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>()[..]].concat();
    assert_eq!(edited(big_endian("hé\n"), "é", "日\nx"), big_endian("h日\nx\n"));
}

#[test]
fn each_edit_sees_the_ones_before_and_all_are_made_or_none() {
    let edits = [edit("one", "two"), edit("two\n", "three\n"), edit("three", "$&")];
    assert_eq!(apply(b"one\n", &edits, false).expect("edits").bytes, b"$&\n");
    let error = refused("one\n", &[edit("one", "two"), edit("one", "x")]);
    assert!(error.starts_with("edit 2 of 2, after the edits before it: \"oldText\" was not found"), "{error}");
}

#[test]
fn what_is_replaced_by_itself_is_no_change() {
    let edited = apply(b"a\r\nb\n", &[edit("a\nb", "a\nb")], false).expect("an edit");
    assert_eq!((edited.bytes.as_slice(), edited.changed, edited.replaced), (&b"a\r\nb\n"[..], false, 1));
    assert!(apply(b"a", &[edit("a", "b")], false).expect("an edit").changed);
}

#[test]
fn places_that_overlap_count() {
    assert!(refused("aaa", &[edit("aa", "b")]).contains("2 times, at line 1;"));
    let all = |file: &str, old, new| {
        apply(file.as_bytes(), &[edit(old, new)], true).map(|edited| (edited.bytes, edited.replaced))
    };
    assert_eq!(all("aaaaa", "aa", "b"), Ok((b"bba".to_vec(), 2)));
    assert_eq!(all("a\r\nb\na", "a", "x\ny"), Ok((b"x\r\ny\r\nb\nx\ny".to_vec(), 2)));
    assert!(all("b", "a", "c").is_err());
}

#[test]
fn what_cannot_be_edited_says_why() {
    for (file, old, new, want) in [
        (&b"x"[..], "", "y", "\"oldText\" is empty"),
        (b"", "", "y", "write_file"),
        (b"x", "x", "\0", "NUL"),
        (b"a\0b", "a", "b", "binary"),
        (b"\xFF\xFEa", "a", "b", "binary"),
        (b"\xFF\xFE\x00\xD8", "a", "b", "binary"),
    ] {
        let error = refused(file, &[edit(old, new)]);
        assert!(error.contains(want), "{file:?}: {error}");
    }
}

#[test]
fn neither_the_file_nor_the_result_is_longer_than_the_limit() {
    let most = "a".repeat(MOST - 1) + "b";
    assert_eq!(edited(&most, "b", "c").len(), MOST);
    assert_eq!(apply(most.as_bytes(), &[edit("b", "bb")], false), Err(EditError::ResultTooLong));
    assert_eq!(apply((most + "c").as_bytes(), &[edit("b", "")], false), Err(EditError::TooLong));
    let error = apply("a".repeat(1 << 19).as_bytes(), &[edit("a", &"b".repeat(1 << 20))], true).expect_err("too long");
    assert!(error.to_string().contains("16 MiB"), "{error}");
}

/// All of these are small, but would take minutes in quadratic time.
#[test]
fn hostile_texts_take_linear_time() {
    let many = "a".repeat(5 << 20);
    for (file, old) in [
        (many.clone(), "a".repeat(1 << 20) + "b"),
        (many.clone(), "b".to_owned() + &"a".repeat(1 << 20)),
        (many.clone(), "a".repeat(1 << 20)),
        ("a\n".repeat(2 << 20), "a\n".repeat(1 << 20) + "b"),
        ("ab".repeat(2 << 20), "ab".repeat(1 << 20)),
        ("\n".repeat(4 << 20), "\n\n".to_owned()),
    ] {
        let error = refused(&file, &[edit(&old, "x")]);
        assert!(error.len() < 1_000, "{} bytes", error.len());
    }
}

/// Pieces of random texts: few, so that they repeat.
const PIECES: [&str; 9] = ["a", "b", "é", "😀", "$&", "\n", "\r\n", "\r", "\n"];

fn text(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..most).prop_map(|pieces| pieces.concat())
}

/// A part of `text` with other line endings.
fn part(text: &str, from: prop::sample::Index, length: usize, ending: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let from = from.index(chars.len() + 1);
    let part: String = chars[from..(from + length).min(chars.len())].iter().collect();
    if ending.is_empty() { part } else { part.replace("\r\n", "\n").replace('\n', ending) }
}

type AnyEdit = (prop::sample::Index, usize, &'static str, String);

fn any_edit() -> impl Strategy<Value = AnyEdit> {
    (any::<prop::sample::Index>(), 1..6_usize, prop::sample::select(&["", "\n", "\r\n"][..]), text(6))
}

fn encoded(text: &str, encoding: usize) -> Vec<u8> {
    match encoding {
        0 => text.as_bytes().to_vec(),
        1 => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        _ => utf16(text),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 10_000, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn edits_do_what_the_model_does(
        text in text(30),
        edits in prop::collection::vec(any_edit(), 1..4),
        all: bool,
        encoding in 0..3_usize,
    ) {
        let edits: Vec<Edit> = edits.into_iter().map(|(from, length, ending, new_text)| {
            Edit { old_text: part(&text, from, length, ending), new_text }
        }).collect();
        let made = apply(&encoded(&text, encoding), &edits, all).ok().map(|edited| edited.bytes);
        let want = model::apply(&text, &edits, all).map(|text| encoded(&text, encoding));
        prop_assert_eq!(made, want);
    }

    #[test]
    fn not_one_byte_outside_the_match_changes(
        before in bytes(),
        ending in prop::sample::select(&["\n", "\r\n"][..]),
        new in prop::collection::vec(prop::sample::select(&["a", "1", "\n", "\r\n", "$1"][..]), 0..6),
        after in bytes(),
    ) {
        let (file, new) = ([&before, format!("<{ending}>").as_bytes(), &after].concat(), new.concat());
        let edited = apply(&file, &[edit("<\n>", &new)], false);
        prop_assume!(edited.is_ok(), "its encoding is not certain");
        let bytes = edited.expect("is_ok").bytes;
        prop_assert!(bytes.starts_with(&before) && bytes.ends_with(&after), "{:?}", bytes);
        let middle = String::from_utf8(bytes[before.len()..bytes.len() - after.len()].to_vec()).expect("ASCII");
        prop_assert_eq!(middle.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    }
}

/// The bytes of a text in one or several legacy encodings.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![8 => b'a'..=b'z', 2 => 0xA0..=0xFF_u8, 1 => prop::sample::select(&b"\r\n \x80\x93"[..])];
    prop::collection::vec(byte, 0..40)
}

#[test]
fn unwanted_work_stops() {
    let cancel = Cancel::default();
    cancel.cancel();
    let (file, edits) = ("a\n".repeat(100_000), [edit("a", "b")]);
    assert_eq!(super::apply(file.as_bytes(), &edits, true, &cancel), Err(EditError::Cancelled));
    assert_eq!(super::apply(file.as_bytes(), &[edit("x", "b")], false, &cancel), Err(EditError::Cancelled));
}

#[test]
fn a_million_places_are_replaced_at_once_and_no_more() {
    let file = "a".repeat(1_000_001);
    assert!(apply(&file.as_bytes()[1..], &[edit("a", "b")], true).is_ok());
    let error = apply(file.as_bytes(), &[edit("a", "b")], true).expect_err("too many");
    assert!(error.to_string().contains("more than 1,000,000 places"), "{error}");
    let twice = [edit("a", "b"), edit("b", "a")];
    assert!(apply(&file.as_bytes()[..600_000], &twice, true).is_err(), "both together are more");
}

#[test]
fn an_empty_file_is_called_so() {
    let error = apply(b"", &[edit("a", "b")], false).expect_err("nothing is there");
    assert!(error.to_string().contains("empty; use write_file"), "{error}");
}

/// `Ã` and `©` in Windows-1252 are the bytes of `é` in UTF-8, which the next reader would see.
#[test]
fn text_that_a_guessed_encoding_would_not_give_back_is_refused() {
    let error =
        apply(b"caf\xe9\n", &[edit("caf\u{e9}", "caf\u{c3}\u{a9}")], false).expect_err("it reads as something else");
    assert!(error.to_string().contains("encoding is not certain enough"), "{error}");
    assert!(apply(b"caf\xe9\n", &[edit("caf", "Caf")], false).is_ok());
}
