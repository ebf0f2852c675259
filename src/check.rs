//! `--check`: what would be served and what to paste into a client's configuration. Also the one-line summary that a
//! server logs when it starts.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use crate::features::prompts;
use crate::hostile::is_hostile;
use crate::limits::Limits;
use crate::log;
use crate::root::write::is_displaced;
use crate::root::{Exclude, Hidden, Kind, Protect, RelPath, Root, WalkOptions};
use crate::runtime::cancel::Cancel;

/// The report, ready to print. `protect` is given when clients may write: it holds the names that stay read-only. With
/// `prompts`, the files of that folder are prompts.
pub fn report(
    root: &Root,
    protect: Option<&Protect>,
    prompts: Option<&RelPath>,
    limits: &Limits,
    program: &Path,
    options: &[String],
) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "root          {}", log::escaped(&root.plain_path().display().to_string()));
    let _ = writeln!(text, "uri           {}", root.own_uri());
    text += &contents(root, limits.list);
    let access = if protect.is_some() { "read and write (--allow-write)" } else { "read-only" };
    let _ = writeln!(text, "access        {access}");
    if let Some(protect) = protect {
        let _ = writeln!(text, "protected     {}", log::escaped(&protect.to_string()));
    }
    if let Some(kind) = root.remote_file_system() {
        let _ = writeln!(text, "file system   {}", not_local(kind));
    }
    text += &prompts.map(|folder| of_prompts(root, folder)).unwrap_or_default();
    let _ = writeln!(text, "confinement   {}", root.confinement());
    let _ = writeln!(text, "kernel wall   {}", root.sandbox());
    text += &configuration(root, program, options);
    text
}

/// The first line of the log: what is served and how it is confined.
pub fn summary(root: &Root, writable: bool) -> String {
    let access = if writable { "read-write" } else { "read-only" };
    let (path, paths, process) = (root.plain_path(), root.confinement(), root.sandbox());
    let remote = root.remote_file_system().map(|kind| format!("; {}", not_local(kind))).unwrap_or_default();
    let path = path.display();
    format!("serving {path}, {access}; paths confined by {paths}; process by {process}{remote}")
}

fn not_local(kind: &str) -> String {
    format!("not a local disk ({kind}): changes are detected by polling, and several operations run at once")
}

/// How many prompts there are, and which files are not valid prompts.
fn of_prompts(root: &Root, folder: &RelPath) -> String {
    let (count, bad) = match prompts::check(root, folder, &Cancel::default()) {
        Ok(found) => found,
        Err(error) => return format!("prompts       {error}\n"),
    };
    let mut text = format!("prompts       {count} below {}\n", log::escaped(&folder.display()));
    for (file, why) in &bad {
        let _ = writeln!(text, "no prompt     {}: {}", log::escaped(&file.display()), log::escaped(why));
    }
    text
}

/// Counts entries by kind, up to the limit of `resources/list`.
fn contents(root: &Root, limit: usize) -> String {
    let cancel = Cancel::default();
    let options = WalkOptions { hidden: Hidden::Skipped, max_depth: usize::MAX, exclude: Exclude::nothing().into() };
    let mut walk = root.walk(&RelPath::root(), options, &cancel);
    let (mut files, mut directories, mut links, mut others) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut denied = 0;
    let (mut unreadable, mut displaced) = (Vec::new(), Vec::new());
    for visit in walk.by_ref() {
        let listing = match &visit.listing {
            Ok((_, listing)) => listing,
            Err(error) => {
                unreadable.push(format!("{}: {error}", visit.path.real.display()));
                continue;
            }
        };
        denied += listing.denied;
        for entry in listing.iter() {
            if is_displaced(entry.name) {
                displaced.push(visit.path.real.join(entry.name));
            }
            match entry.kind {
                Kind::File => files += 1,
                Kind::Directory => directories += 1,
                Kind::Link => links += 1,
                _ => others += 1,
            }
        }
        if files > limit {
            break;
        }
    }
    let cut = match files {
        files if files > limit || walk.cut => format!("; resources/list is cut to {limit}, and counting ended there"),
        _ => String::new(),
    };
    let mut text =
        format!("served        {files} files, {directories} directories, {links} links, {others} others{cut}\n");
    let (ignored, count) = (walk.ignored, unreadable.len());
    let _ = writeln!(text, "left out      {ignored} ignored, {denied} denied, {count} unreadable directories");
    for directory in unreadable.iter().take(5) {
        let _ = writeln!(text, "unreadable    {}", log::escaped(directory));
    }
    for file in displaced.iter().take(20) {
        let what = "another program's file that a write displaced; move it back, or delete it";
        let _ = writeln!(text, "displaced     {}: {what}", log::escaped(&file.display()));
    }
    for note in &walk.notes {
        let _ = writeln!(text, "note          {} {}", log::escaped(&note.0.display()), note.1);
    }
    text
}

fn configuration(root: &Root, program: &Path, options: &[String]) -> String {
    let root = root.plain_path().display().to_string();
    let program = program.display().to_string();
    let arguments: Vec<_> = options.iter().chain([&root]).collect();
    let words: Vec<_> = std::iter::once(&program).chain(arguments.iter().copied()).map(|word| quoted(word)).collect();
    let block = json!({ "mcpServers": { "files": { "command": program, "args": arguments } } });
    format!(
        "\nClaude Code:\n\n    claude mcp add files -- {}\n\n.mcp.json, and most other clients:\n\n    {}\n",
        words.join(" "),
        json_of(&block).replace('\n', "\n    ")
    )
}

/// A word quoted for the shell.
fn quoted(word: &str) -> String {
    if cfg!(windows) {
        return quoted_for_windows(word);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.contains(is_hostile) {
        // In the syntax of bash and zsh. Text shown here must not control the terminal.
        let escape = |c: char| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if is_hostile(c) => format!("\\U{:08x}", u32::from(c)),
            c => c.to_string(),
        };
        format!("$'{}'", word.chars().map(escape).collect::<String>())
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A word quoted for cmd.exe and PowerShell: both know these quotes, which no file name contains.
fn quoted_for_windows(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || r"\/._-+=:".contains(c);
    let shown: String = word.chars().map(|c| if is_hostile(c) { '?' } else { c }).collect();
    if !word.is_empty() && word.chars().all(plain) { shown } else { format!("\"{shown}\"") }
}

/// A value as JSON, with hostile characters escaped.
fn json_of(value: &serde_json::Value) -> String {
    let mut text = String::new();
    for c in serde_json::to_string_pretty(value).unwrap_or_default().chars() {
        // Newlines only separate values; within strings they are escaped already.
        if c != '\n' && is_hostile(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{json_of, quoted, quoted_for_windows};

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(["/a/b-c", "", "a b", "it's", "$x"].map(quoted), ["/a/b-c", "''", "'a b'", r"'it'\''s'", "'$x'"]);
        assert_eq!(quoted("it's\u{1b}\\ \u{202e}\u{e0041}"), r"$'it\'s\U0000001b\\ \U0000202e\U000e0041'");
    }

    #[test]
    fn words_survive_the_shells_of_windows() {
        let words = [r"C:\srv\a-b", "", r"C:\Program Files\x", "--deny=*.pem", "a&b"].map(quoted_for_windows);
        assert_eq!(words, [r"C:\srv\a-b", "\"\"", r#""C:\Program Files\x""#, "\"--deny=*.pem\"", "\"a&b\""]);
    }

    #[test]
    fn configuration_shows_no_hostile_character_and_means_them_all() {
        let value = json!({ "args": ["a\u{202e}\u{e0041}\u{7f}\n\"", "b"] });
        let text = json_of(&value);
        assert!(!text.replace('\n', "").contains(crate::hostile::is_hostile), "{text:?}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
