//! The table of messages in docs/errors.md is made from the source of the errors: run the test with `WRITE_DOCS=1` to make
//! it again.

use std::fs;
use std::path::Path;

/// The enums whose messages reach models.
const SOURCES: [&str; 2] = ["src/root/error.rs", "src/root/write/error.rs"];
const BEGIN: &str = "<!-- messages: made by tests/it/docs/messages.rs -->\n";
const END: &str = "<!-- end of messages -->";

fn page() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors.md")
}

/// The messages of a source, each with the first sentence of its variant's comment.
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

/// The string literal that an attribute begins with, as it is said; `None` for a message that is another error's.
fn literal(attribute: &str) -> Option<String> {
    let (text, _) = attribute.strip_prefix('"')?.rsplit_once('"')?;
    let text = text.replace("\\\"", "\"").replace('\\', "");
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        filled.push('…');
        filled.push_str(part.split_once('}').expect("a closed placeholder").1);
    }
    (filled.chars().filter(|c| c.is_alphabetic()).count() > 3).then_some(filled)
}

fn table() -> String {
    let mut table = String::from("| message | when |\n| --- | --- |\n");
    for (message, when) in SOURCES.iter().flat_map(|source| messages(source)) {
        table.push_str(&format!("| {} | {when} |\n", message.replace('|', "\\|")));
    }
    table
}

#[test]
fn the_table_of_messages_is_that_of_the_source() {
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
