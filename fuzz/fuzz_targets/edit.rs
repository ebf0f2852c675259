//! Edits: not one byte outside the matches changes, and the matches are those of a plain search in which all line
//! endings are equal. An edit that fails leaves the file unchanged, and so does a dry run.
//!
//! An input is a digit, which selects whether all occurrences are replaced and how the file is encoded, followed by
//! texts that are each terminated by a NUL: the file, the first text to replace, its replacement, the second text to
//! replace, and so on.

#![no_main]

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::{Corpus, fuzz_target};
use mcp_fs::call::{Call, Outcome, ToolResult};
use mcp_fs::features::dispatch::dispatch;
use mcp_fs::services::Services;
use mcp_fs_fuzz::{Scene, context, said};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

static SCENE: LazyLock<(Scene, Arc<Services>)> = LazyLock::new(|| {
    let scene = Scene::empty();
    let services = scene.services(true);
    (scene, services)
});

fuzz_target!(|data: &[u8]| -> Corpus { check(data).map_or(Corpus::Reject, |()| Corpus::Keep) });

fn check(data: &[u8]) -> Option<()> {
    let (flags, rest) = data.split_first()?;
    let mut parts = rest.split(|byte| *byte == 0);
    let (all, encoding) = (flags & 1 == 1, flags >> 1 & 3);
    let file = encoded(parts.next()?, encoding);
    let texts: Vec<String> = parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    let edits: Vec<(&str, &str)> = texts.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let mut now = file.clone();
    let mut is_whole = true;
    // Whether a lone CR is a line ending depends on the rest of the file, and before an LF it is no longer alone. A
    // guessed encoding also depends on the file.
    let has_lone_cr = [data, b"\0"].concat().windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
    let mut is_simple = !has_lone_cr;
    for edit in &edits {
        is_simple &= decoded(&now).is_some();
        match edited(&now, &[*edit], all) {
            Some(next) => {
                is_simple &= !makes_a_mark(&now, &next);
                now = next;
            }
            None => is_whole = false,
        }
        if !is_whole {
            break;
        }
    }
    let at_once = edited(&file, &edits, all);
    if is_simple && !edits.is_empty() {
        assert_eq!(at_once, is_whole.then_some(now), "one after the other, and all at once");
    }
    Some(())
}

/// The file after the edits; `None` if they fail.
fn edited(file: &[u8], edits: &[(&str, &str)], all: bool) -> Option<Vec<u8>> {
    let path = SCENE.0.root().join("file");
    fs::write(&path, file).expect("a file");
    let dry = edit(edits, all, true);
    assert_eq!(fs::read(&path).expect("the file"), file, "a dry run changes nothing");
    let result = edit(edits, all, false);
    let bytes = fs::read(&path).expect("the file");
    let names = fs::read_dir(SCENE.0.root()).expect("root").count();
    assert_eq!(names, 1, "something was left behind");
    assert_eq!(dry.is_error, result.is_error, "a dry run says the same");
    assert!(!result.is_error || bytes == file, "a refused edit changes nothing");
    let made = (!result.is_error).then_some(bytes);
    if let ([(old, new)], Some(before)) = (edits, decoded(file))
        && !made.as_ref().is_some_and(|bytes| makes_a_mark(file, bytes))
    {
        let after = made.as_ref().map(|bytes| decoded(bytes).expect("it is what it was: text"));
        judge(&before, old, new, all, after.as_deref());
    }
    made
}

/// A character that an edit has moved to the beginning is a byte order mark when the file is read again, and no longer
/// part of the text.
fn makes_a_mark(before: &[u8], after: &[u8]) -> bool {
    let mark = "\u{feff}".as_bytes();
    after.starts_with(mark) && !before.starts_with(mark)
}

fn edit(edits: &[(&str, &str)], all: bool, dry_run: bool) -> ToolResult {
    let edits: Vec<Value> = edits.iter().map(|(old, new)| json!({ "oldText": old, "newText": new })).collect();
    let arguments = json!({ "path": "file", "edits": edits, "replaceAll": all, "dryRun": dry_run });
    let arguments = Some(to_raw_value(&arguments).expect("JSON"));
    match dispatch(&Call::CallTool { name: "edit_file".to_owned(), arguments }, &context(&SCENE.1)) {
        Ok(Outcome::Tool(result)) => {
            assert!(!said(&result).is_empty());
            result
        }
        other => panic!("no answer of a tool: {other:?}"),
    }
}

/// Text in one of four encodings; the first takes bytes as they are.
fn encoded(text: &[u8], encoding: u8) -> Vec<u8> {
    let units = || "\u{feff}".encode_utf16().chain(String::from_utf8_lossy(text).encode_utf16().collect::<Vec<_>>());
    match encoding {
        0 => text.to_vec(),
        1 => ["\u{feff}".as_bytes(), text].concat(),
        2 => units().flat_map(u16::to_le_bytes).collect(),
        _ => units().flat_map(u16::to_be_bytes).collect(),
    }
}

/// Text from UTF-8, or from UTF-16 with a byte order mark; `None` for anything else, whose encoding has to be guessed.
fn decoded(file: &[u8]) -> Option<String> {
    let units = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = file[2..].chunks_exact(2).map(|unit| read([unit[0], unit[1]])).collect();
        file.len().is_multiple_of(2).then(|| String::from_utf16(&units).ok())?
    };
    let text = match file {
        [0xFF, 0xFE, ..] => units(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => units(u16::from_be_bytes),
        _ => str::from_utf8(file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file)).ok().map(str::to_owned),
    };
    text.filter(|text| !text.contains('\0'))
}

/// Compares one edit with a search that compares everything with everything.
fn judge(before: &str, old: &str, new: &str, all: bool, after: Option<&str>) {
    let lone_cr_ends = !before.contains('\n');
    let (text, old, new) = (tokens(before, lone_cr_ends), tokens(old, lone_cr_ends), tokens(new, lone_cr_ends));
    let is_like = |(a, b): (&Token<'_>, &Token<'_>)| a.is_like(b);
    let is_place = |at: &usize| text.len() - at >= old.len() && text[*at..].iter().zip(&old).all(is_like);
    let places: Vec<usize> = (0..text.len()).filter(is_place).collect();
    let is_possible = !old.is_empty() && (places.len() == 1 || (all && !places.is_empty()));
    let Some(after) = after else {
        assert!(!is_possible, "it was refused, but is there, at {places:?}");
        return;
    };
    assert!(is_possible, "it was made, but is there {} times", places.len());
    // New lines end like others in the file or, if there are none, as given.
    let endings = Some(endings(&text)).filter(|endings| !endings.is_empty()).unwrap_or_else(|| endings(&new));
    let mut walker = Walker { text: after, at: vec![0] };
    let mut from = 0;
    for place in places {
        if place >= from {
            walker.pass(&written(&text[from..place]));
            for token in &new {
                if token.is_ending { walker.pass_any(&endings) } else { walker.pass(token.text) }
            }
            from = place + old.len();
        }
    }
    walker.pass(&written(&text[from..]));
    assert!(walker.at.contains(&after.len()), "something outside the matches has changed: {before:?} to {after:?}");
}

/// A character, or a line ending of any kind.
#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    text: &'t str,
    is_ending: bool,
}

impl Token<'_> {
    fn is_like(&self, other: &Self) -> bool {
        (self.is_ending && other.is_ending) || (self.is_ending == other.is_ending && self.text == other.text)
    }
}

fn tokens(text: &str, lone_cr_ends: bool) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
        let (text, after) = rest.split_at(length);
        let is_ending = text.ends_with('\n') || (text == "\r" && lone_cr_ends);
        tokens.push(Token { text, is_ending });
        rest = after;
    }
    tokens
}

fn written(tokens: &[Token<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect()
}

/// The kinds of line endings among them.
fn endings<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    let endings: BTreeSet<&str> = tokens.iter().filter(|token| token.is_ending).map(|token| token.text).collect();
    endings.into_iter().collect()
}

/// Matches a text that may have been written in several ways.
struct Walker<'t> {
    text: &'t str,
    /// The positions where it may be now.
    at: Vec<usize>,
}

impl Walker<'_> {
    fn pass(&mut self, piece: &str) {
        self.pass_any(&[piece]);
    }

    fn pass_any(&mut self, pieces: &[&str]) {
        let ends = |at: usize| {
            let rest = &self.text.as_bytes()[at..];
            let passes = pieces.iter().filter(move |piece| rest.starts_with(piece.as_bytes()));
            passes.map(move |piece| at + piece.len()).collect::<Vec<_>>()
        };
        self.at = self.at.iter().flat_map(|at| ends(*at)).collect();
        self.at.sort_unstable();
        self.at.dedup();
    }
}
