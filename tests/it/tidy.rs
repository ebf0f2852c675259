//! Rules for the source itself: the promises that `lib.rs` makes about its layers, checked in the text.
//!
//! Comments are exempt: they may name anything.

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 350;

/// A file of the repository.
pub(crate) struct Source {
    /// Relative to the top of the repository, with `/`.
    pub(crate) path: String,
    text: String,
}

impl Source {
    /// Its lines of code with their numbers. A comment at the end of a line is removed.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let code = |line: &'_ str| line.find("//").is_none_or(|at| !line[..at].trim().is_empty());
        let lines = self.text.lines().enumerate().filter(move |(_, line)| code(line));
        lines.map(|(number, line)| (number + 1, line.split(" // ").next().unwrap_or(line)))
    }

    /// Its name, or its directory's if it is a `mod.rs`.
    fn module(&self) -> &str {
        let path = self.path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
        path.rsplit('/').next().unwrap_or(path)
    }
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files below `directory`, of which there must be some.
pub(crate) fn sources(directory: &str) -> Vec<Source> {
    let rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let files = walkdir::WalkDir::new(top().join(directory)).sort_by_file_name();
    let files = files.into_iter().map(|entry| entry.expect("readable").into_path()).filter(rust);
    let sources: Vec<Source> = files
        .map(|path| Source {
            text: fs::read_to_string(&path).expect("text"),
            path: path.strip_prefix(top()).expect("below the top").to_str().expect("text").replace('\\', "/"),
        })
        .collect();
    assert!(!sources.is_empty(), "nothing in {directory}: was it moved?");
    sources
}

/// All files that were written here, without build output.
fn all_sources() -> Vec<Source> {
    ["src", "tests", "examples", "benches", "fuzz/src", "fuzz/fuzz_targets"].into_iter().flat_map(sources).collect()
}

/// Fails with all places where one of the sources names one of `words`.
fn names_none_of(sources: &[Source], words: &[&str], reason: &str) {
    let mut found = Vec::new();
    for source in sources {
        for (number, line) in source.code() {
            let word = words.iter().find(|word| line.contains(*word));
            found.extend(word.map(|word| format!("{}:{number} names {word}", source.path)));
        }
    }
    assert!(found.is_empty(), "{reason}:\n{}", found.join("\n"));
}

#[test]
fn no_forgotten_files() {
    let tests = sources("tests/it");
    for test in tests.iter().filter(|test| test.path != "tests/it/main.rs") {
        let path = Path::new(&test.path).with_file_name("");
        let home = if test.path.ends_with("/mod.rs") { path.parent().expect("a parent").to_owned() } else { path };
        let home = home.to_str().expect("text").trim_end_matches('/');
        let parents = [format!("{home}/main.rs"), format!("{home}/mod.rs"), format!("{home}.rs")];
        let parent = tests.iter().find(|file| parents.contains(&file.path));
        let declared = format!("mod {};", test.module());
        let is_declared = |parent: &Source| parent.code().any(|(_, line)| line.ends_with(&declared));
        assert!(parent.is_some_and(is_declared), "{}: forgotten, no `{declared}` in any of {parents:?}", test.path);
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for source in all_sources() {
        assert!(source.text.starts_with("//! "), "{}: must begin with //! and say what it is for", source.path);
    }
}

#[test]
fn no_file_is_long() {
    let too_long = |source: &Source| {
        let lines = source.text.lines().count();
        (lines > LONGEST_FILE).then(|| format!("{}: {lines} lines", source.path))
    };
    let found: Vec<String> = all_sources().iter().filter_map(too_long).collect();
    assert!(found.is_empty(), "longer than {LONGEST_FILE} lines:\n{}", found.join("\n"));
}

#[test]
fn every_fuzz_target_is_declared_and_has_a_corpus() {
    let manifest = fs::read_to_string(top().join("fuzz/Cargo.toml")).expect("fuzz/Cargo.toml");
    let targets = sources("fuzz/fuzz_targets");
    for target in &targets {
        let path = target.path.trim_start_matches("fuzz/");
        assert!(manifest.contains(&format!("path = \"{path}\"")), "{path}: no [[bin]] in fuzz/Cargo.toml");
        let corpus = top().join("fuzz/corpus").join(target.module());
        assert!(corpus.read_dir().is_ok_and(|mut files| files.next().is_some()), "{}: no seeds", corpus.display());
    }
    assert_eq!(manifest.matches("[[bin]]").count(), targets.len(), "fuzz/Cargo.toml names a target that is not there");
}

#[test]
fn only_root_touches_the_disk() {
    let allowed = ["src/root/", "src/transport/stdio/streams.rs", "src/cli/http"];
    let outside = |source: &Source| !allowed.iter().any(|path| source.path.starts_with(path));
    let sources: Vec<Source> = sources("src").into_iter().filter(outside).collect();
    let words = ["std::fs", "tokio::fs", "cap_std", "fs::File", "rustix::fs"];
    names_none_of(&sources, &words, "only the root, stdio and what HTTP needs at the start touch the disk");
}

#[test]
fn authority_enters_once() {
    let uses: Vec<String> = sources("src")
        .iter()
        .flat_map(|source| source.code().map(|(number, line)| (format!("{}:{number}", source.path), line.to_owned())))
        .filter(|(_, line)| line.contains("ambient_authority()"))
        .map(|(place, _)| place)
        .collect();
    assert_eq!(uses.len(), 1, "DIR is opened at one line, and nothing else is: {uses:?}");
}

#[test]
fn every_tool_is_registered() {
    const NO_TOOLS: [&str; 7] = [
        "mod.rs",
        "arguments.rs",
        "arguments/tests.rs",
        "arguments/parameters.rs",
        "write_common.rs",
        "edits.rs",
        "tool_error.rs",
    ];
    let directory = "src/features/tools/";
    let sources = sources(directory);
    let registry = sources.iter().find(|source| source.path.ends_with("tools/mod.rs")).expect("tools/mod.rs");
    for tool in &sources {
        let name = tool.path.strip_prefix(directory).unwrap_or(&tool.path);
        let named = format!("&{}::TOOL,", tool.module());
        let registered = || registry.code().any(|(_, line)| line.contains(&named));
        assert!(NO_TOOLS.contains(&name) || registered(), "{}: no line with {named} in tools/mod.rs", tool.path);
    }
}
