//! What people read first: the pages, and the examples that they link to.

mod examples;
mod limits;
mod messages;
mod packages;
mod pages;
mod said;

use std::fs;
use std::path::Path;

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    fs::read_to_string(top().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The text below a heading, up to the next heading of the same level.
fn section<'a>(readme: &'a str, heading: &str) -> &'a str {
    let (_, rest) =
        readme.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("README has no section {heading:?}"));
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

/// The cells of the table whose header begins with the given cell.
fn rows<'a>(text: &'a str, first: &str) -> Vec<Vec<&'a str>> {
    let head = format!("| {first} |");
    let lines = text.lines().skip_while(|line| !line.starts_with(&head)).take_while(|line| line.starts_with('|'));
    let cells = |line: &'a str| line.trim_matches('|').split('|').map(str::trim).collect();
    let rows: Vec<_> = lines.skip(2).map(cells).collect();
    assert!(!rows.is_empty(), "no table with {head}");
    rows
}

/// The texts in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A file of the program's source.
fn source(name: &str) -> String {
    fs::read_to_string(top().join("src").join(name)).unwrap_or_else(|error| panic!("src/{name}: {error}"))
}
