//! The table of messages in docs/errors.md is generated from the source of the errors: run the test with `WRITE_DOCS=1`
//! to regenerate it.

use std::fs;
use std::path::Path;

/// The enums whose messages reach models.
const SOURCES: [&str; 4] =
    ["src/root/error.rs", "src/root/write/error.rs", "src/features/edit/error.rs", "src/features/edit/append.rs"];
/// Stands for a value.
pub(super) const VALUE: char = '…';
const BEGIN: &str = "<!-- messages: made by tests/it/docs/messages.rs -->\n";
const END: &str = "<!-- end of messages -->";

fn page() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors.md")
}

/// The messages in a source file, each with the first sentence of its variant's comment.
fn messages(source: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).expect("the source");
    let mut found = Vec::new();
    let mut comment = String::new();
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if let Some(doc) = line.strip_prefix("/// ") {
            comment.push_str(doc);
            comment.push(' ');
        } else if let Some(rest) = line.strip_prefix("#[error(") {
            let mut attribute = rest.to_owned();
            while !attribute.ends_with(")]") {
                attribute.push_str(lines.next().expect("the attribute ends"));
            }
            if let Some(message) = literal(&attribute) {
                let when = comment.split_once(". ").map_or(comment.as_str(), |(first, _)| first);
                found.push((message, when.trim_end_matches(". ").trim_end().to_owned()));
            }
        } else {
            comment.clear();
        }
    }
    found
}

/// The string literal at the start of an attribute, unescaped; `None` for a message that comes from another error, and
/// for one that no client sees: a cancelled request gets no answer.
fn literal(attribute: &str) -> Option<String> {
    let mut rest = attribute.strip_prefix('"')?.chars();
    let mut filled = String::new();
    loop {
        match rest.next()? {
            '"' => break,
            // A continued line was joined to the next one, so what follows is never a newline.
            '\\' => filled.extend(rest.next()),
            '{' => {
                rest.find(|c| *c == '}').expect("a closed placeholder");
                if !filled.ends_with(VALUE) {
                    filled.push(VALUE);
                }
            }
            other => filled.push(other),
        }
    }
    (filled.chars().any(char::is_alphabetic) && filled != "cancelled").then_some(filled)
}

#[test]
fn literals_are_read_as_the_compiler_reads_them() {
    let read = |attribute| literal(attribute).expect("a literal");
    assert_eq!(read(r#""a \"b\", {}{c} d", if x { "y" } else { "z" })]"#), "a \"b\", … d");
    assert_eq!(read(r#""one \two")]"#), "one two");
    assert_eq!(literal("\"{0}\")]"), None);
    assert_eq!(literal("transparent)]"), None);
}

fn table() -> String {
    let mut table = String::from("| message | when |\n| --- | --- |\n");
    for (message, when) in SOURCES.iter().flat_map(|source| messages(source)) {
        table.push_str(&format!("| {} | {when} |\n", message.replace('|', "\\|")));
    }
    table
}

#[test]
fn the_table_of_messages_matches_the_source() {
    let text = fs::read_to_string(page()).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (written, after) = rest.split_once(END).expect("where it ends");
    let now = table();
    assert!(now.lines().count() > 30, "{now}");
    if std::env::var_os("WRITE_DOCS").is_some() {
        fs::write(page(), format!("{before}{BEGIN}{now}{END}{after}")).expect("it is written");
        return;
    }
    assert_eq!(written, now, "make it again: WRITE_DOCS=1 cargo test the_table_of_messages");
}
