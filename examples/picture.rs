//! The picture of a session for the README: runs commands in a shell and draws their output.
//!
//! ```sh
//! cargo build && cargo run -q --example picture > docs/session.svg
//! ```

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::Command;

/// What is typed, without the prompt.
pub(crate) const TYPED: &str = "cargo run -q --example client -- sample-root";

/// The height of a line and the width of a character, in pixels.
const LINE: usize = 20;
const CHARACTER: f32 = 7.8;
/// The maximum number of characters in a line; the rest is cut off.
const COLUMNS: usize = 112;

fn main() -> io::Result<()> {
    let output = Command::new("sh").args(["-c", TYPED]).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    io::stdout().write_all(drawn(&format!("$ {TYPED}\n{printed}")).as_bytes())
}

pub(crate) fn drawn(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(shortened).collect();
    let (width, height) = (COLUMNS as f32 * CHARACTER + 40.0, (lines.len() + 2) * LINE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f24\"/>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let color = match line {
            line if line.starts_with('$') => "#7ee787",
            line if line.contains("refused") => "#ffa198",
            line if line.starts_with("  ") => "#c9d1d9",
            _ => "#79c0ff",
        };
        let (y, line) = ((number + 1) * LINE + 10, line.replace('&', "&amp;").replace('<', "&lt;"));
        let _ = writeln!(svg, "<text x=\"20\" y=\"{y}\" fill=\"{color}\" xml:space=\"preserve\">{line}</text>");
    }
    svg + "</svg>\n"
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= COLUMNS {
        line.to_owned()
    } else {
        line.chars().take(COLUMNS - 1).chain(['…']).collect()
    }
}
