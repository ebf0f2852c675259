//! Replays `tests/transcripts/*.txt`: lessons to read, and proof that they are true.
//!
//! | a line that begins with | means |
//! | --- | --- |
//! | `# ` | a comment, as is an empty line |
//! | `$ ` | the command that starts the server, at the top of the repository; `$ mcp-fs sample-root` by default |
//! | `> ` | the client sends this line |
//! | `< ` | the server sends this next |
//! | `<~ ` | the server sends this as well; consecutive lines of this kind may come in any order |
//! | `+ ` | another program appends a line to a file, which is created if it is missing: `+ notes.md one more` |
//! | `! ` | the client ends the input here, and this is the exit code; `! 0` at the end by default |
//! | two spaces | continues the previous line, so that long messages are readable |
//!
//! If a file is or may be changed, the server gets a copy of `sample-root`.
//!
//! Expected messages are compared as JSON, so spaces and the order of members do not matter. `{{root}}` is the
//! `file://` URI of `sample-root`, `{{path}}` its absolute path, and `{{version}}` that of the program. `{{*}}` matches
//! anything: any characters inside a string, and any value as `"{{*}}"`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Client as _, Process, Tree, command, file_uri, plain};

const HOLE: &str = "{{*}}";

/// One line of a transcript, with its continuation lines.
#[derive(Debug, PartialEq)]
struct Step {
    /// The number of the line, for error messages.
    line: usize,
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Start,
    Send,
    Expect,
    ExpectInAnyOrder,
    Append,
    End,
}

const KINDS: [(&str, Kind); 6] = [
    ("$ ", Kind::Start),
    ("> ", Kind::Send),
    ("< ", Kind::Expect),
    ("<~ ", Kind::ExpectInAnyOrder),
    ("+ ", Kind::Append),
    ("! ", Kind::End),
];

fn parse(transcript: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for (number, line) in transcript.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let kind = KINDS.iter().find_map(|(mark, kind)| Some((*kind, line.strip_prefix(mark)?)));
        match (kind, steps.last_mut()) {
            (Some((kind, text)), _) => steps.push(Step { line: number + 1, kind, text: text.trim_end().to_owned() }),
            (None, Some(step)) if line.starts_with("  ") => step.text.push_str(line.trim()),
            _ => return Err(format!("line {}: begins with none of the marks", number + 1)),
        }
    }
    Ok(steps)
}

fn replay(transcript: &str) -> Result<(), String> {
    // The directory that contains `sample-root`, in which the server is started.
    let top = plain(&Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().map_err(|error| error.to_string())?);
    let steps = parse(transcript)?;
    let changes = |step: &Step| step.kind == Kind::Append || step.text.contains("--allow-write");
    let copy = steps.iter().any(changes).then(|| copy_of_sample_root(&top));
    let top = copy.as_ref().map_or(&*top, |copy| copy.outside());
    let steps = parse(&fill(transcript, &top.join("sample-root")))?;
    let start = steps.iter().find(|step| step.kind == Kind::Start).map_or("mcp-fs sample-root", |step| &step.text);
    let args = start.strip_prefix("mcp-fs ").ok_or_else(|| format!("{start:?} does not start mcp-fs"))?;
    let mut command = command(args.split_whitespace());
    command.current_dir(top);
    let mut process = Process::start(command);
    let said = talk(&mut process, &steps, top);
    process.close_stdin();
    let exit = process.wait();
    let code = steps.iter().find(|step| step.kind == Kind::End).map_or("0", |step| &step.text);
    match exit.status.code() {
        _ if said.is_err() => said,
        _ if !exit.rest.is_empty() => Err(format!("said, but not written: {}", Value::from(exit.rest))),
        Some(ended) if ended.to_string() == code => Ok(()),
        _ => Err(format!("{}; stderr: {}", exit.status, exit.stderr)),
    }
}

fn talk(process: &mut Process, steps: &[Step], top: &Path) -> Result<(), String> {
    let mut in_any_order: Vec<Value> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step.kind {
            Kind::Start => {}
            Kind::Send => process.send_line(&step.text),
            Kind::Expect => is_as_expected(step, &process.recv())?,
            Kind::ExpectInAnyOrder => {
                if in_any_order.is_empty() {
                    let block = steps[at..].iter().take_while(|step| step.kind == Kind::ExpectInAnyOrder);
                    in_any_order = block.map(|_| process.recv()).collect();
                }
                let found = in_any_order.iter().position(|said| is_as_expected(step, said).is_ok());
                in_any_order.remove(found.ok_or_else(|| format!("line {}: not among {in_any_order:?}", step.line))?);
            }
            Kind::Append => append(&top.join("sample-root"), step)?,
            Kind::End => process.close_stdin(),
        }
    }
    Ok(())
}

/// A directory with a copy of `sample-root`, without links.
fn copy_of_sample_root(top: &Path) -> Tree {
    let original = top.join("sample-root");
    let files = walkdir::WalkDir::new(&original).into_iter().map(|entry| entry.expect("readable"));
    let copy = files.filter(|entry| entry.file_type().is_file()).fold(Tree::new(), |tree, entry| {
        let path = entry.path().strip_prefix(&original).expect("below it");
        tree.file(path, fs::read(entry.path()).expect("a file"))
    });
    copy.renamed("sample-root")
}

/// In one step, so that it is one change.
fn append(root: &Path, step: &Step) -> Result<(), String> {
    let (path, line) = step.text.split_once(' ').ok_or_else(|| format!("line {}: no text to add", step.line))?;
    let file = fs::OpenOptions::new().append(true).create(true).open(root.join(path));
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.map_err(|error| format!("line {}: {error}", step.line))
}

fn fill(transcript: &str, root: &Path) -> String {
    transcript
        .replace("{{root}}", &file_uri(root))
        // In a string of JSON.
        .replace("{{path}}", &root.display().to_string().replace('\\', r"\\"))
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
}

fn is_as_expected(step: &Step, said: &Value) -> Result<(), String> {
    let expected = serde_json::from_str(&step.text).map_err(|error| format!("line {}: {error}", step.line))?;
    difference(&expected, said, "").map_or(Ok(()), |place| Err(format!("line {}: {place}\n  said: {said}", step.line)))
}

/// Where the answer differs, in words.
fn difference(expected: &Value, said: &Value, place: &str) -> Option<String> {
    let differs = || Some(format!("at {place:?}: {expected} is written, {said} was said"));
    match (expected, said) {
        (Value::String(any), _) if any == HOLE => None,
        (Value::String(pattern), Value::String(text)) if matches(pattern, text) => None,
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| difference(a, b, &format!("{place}/{i}")))
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().find_map(|(key, a)| difference(a, &b[key], &format!("{place}/{key}")))
        }
        _ if expected == said => None,
        _ => differs(),
    }
}

/// Whether `text` matches `pattern`, whose holes match anything.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once(HOLE) {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[test]
fn every_transcript_is_true() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let files = fs::read_dir(directory).expect("tests/transcripts").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "txt")).collect();
    files.sort();
    let check = |path: &PathBuf| {
        // Shown if an answer does not arrive at all.
        eprintln!("replaying {}", path.display());
        replay(&fs::read_to_string(path).expect("text")).err().map(|why| format!("{}: {why}", path.display()))
    };
    let wrong: Vec<String> = files.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_transcript_that_is_not_true_is_found() {
    let ping = r#"> {"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
    let pong = r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#;
    let id_2 = pong.replace("1,", "2,");
    let again = ping.replace("1,", "2,");
    let read = r#"> {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}},
        "name": "read_text_file", "arguments": {"path": "new.txt"}}}"#;
    let text = r#"{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "text\n"}],
        "resultType": "complete", "_meta": "{{*}}"}}"#;
    for (transcript, wrong) in [
        (format!("{ping}\n< {pong}"), ""),
        (format!("{ping}\n{again}\n<~ {id_2}\n<~ {pong}\n! 0"), ""),
        (format!("{ping}\n{again}\n<~ {id_2}\n<~ {id_2}"), "not among"),
        (format!("{ping}\n< {id_2}"), "line 2: at \"/id\""),
        (ping.to_owned(), "said, but not written"),
        (format!("{ping}\n< {pong}\n! 2"), "exit"),
        ("$ mcp-fs no-such-directory\n! 2".to_owned(), ""),
        (format!("+ new.txt text\n{read}\n< {text}"), ""),
        (format!("{read}\n< {text}"), "line 4: at"),
        ("+ new.txt".to_owned(), "line 1: no text"),
    ] {
        let why = replay(&transcript).err().unwrap_or_default();
        assert!(if wrong.is_empty() { why.is_empty() } else { why.contains(wrong) }, "{transcript}\n{why}");
    }
}

#[test]
fn holes_stand_for_anything_and_nothing_else_does() {
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    for (expected, said, same) in [
        (r#"{"a": "{{*}}", "b": 1}"#, r#"{"b": 1, "a": {"c": []}}"#, true),
        (r#"["x{{*}}y{{*}}"]"#, r#"["x12y y"]"#, true),
        (r#"["x{{*}}y"]"#, r#"["x12y y!"]"#, false),
        (r#"["{{*}}"]"#, "[1, 2]", false),
        (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, false),
        (r#"{"id": 1}"#, r#"{"id": "1"}"#, false),
    ] {
        assert_eq!(difference(&json(expected), &json(said), "").is_none(), same, "{expected} {said}");
    }
}

#[test]
fn transcripts_are_read_line_by_line() {
    let step = |line, kind, text: &str| Step { line, kind, text: text.to_owned() };
    let steps = parse("# a lesson\n$ mcp-fs x\n\n> {not json\n<~ {\"a\":\n     1}\n! 0\n").unwrap();
    let expected = [
        step(2, Kind::Start, "mcp-fs x"),
        step(4, Kind::Send, "{not json"),
        step(5, Kind::ExpectInAnyOrder, "{\"a\":1}"),
        step(7, Kind::End, "0"),
    ];
    assert_eq!(steps, expected);
    assert_eq!(parse("< {}\nnonsense").unwrap_err(), "line 2: begins with none of the marks");
}

#[test]
fn every_lesson_is_in_the_index() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let index = fs::read_to_string(directory.join("README.md")).expect("the index");
    let mut listed: Vec<&str> = index.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let entries = fs::read_dir(&directory).expect("the lessons").map(|entry| entry.expect("readable").file_name());
    let mut lessons: Vec<String> = entries.filter_map(|name| name.into_string().ok()).collect();
    lessons.retain(|name| name != "README.md");
    lessons.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, lessons);
}
