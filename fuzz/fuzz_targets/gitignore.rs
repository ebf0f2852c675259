//! Ignore files: what they hide is what git's rules, as implemented by gitoxide, hide; and they are read quickly,
//! whatever their content.
//!
//! An input is paths, one per line, which are created (as directories if they end in `/`), an empty line, and the
//! content of `.gitignore`.

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use gix_ignore::Search;
use gix_ignore::glob::pattern::Case;
use gix_ignore::search::Ignore;
use libfuzzer_sys::{Corpus, fuzz_target};
use mcp_fs::root::{Exclude, Hidden, Kind, RelPath, Root, WalkOptions};
use mcp_fs::runtime::cancel::Cancel;
use mcp_fs_fuzz::Scene;

/// How many paths are created.
const MOST: usize = 8;

/// Where gitoxide differs from git: it does not treat a line of tabs or form feeds as blank, takes a class with an
/// unknown name as text, and ends at a NUL. And git does not treat an escaped slash quite as a slash, but everyone else
/// does.
const UNCLEAR: [&str; 7] = ["\t", "\u{b}", "\u{c}", "\r", "\0", "[:", "\\/"];

static SCENE: LazyLock<(Scene, Root)> = LazyLock::new(|| {
    let scene = Scene::empty();
    let root = scene.open();
    (scene, root)
});

fuzz_target!(|text: &str| -> Corpus {
    let (scene, root) = &*SCENE;
    let Some((paths, patterns)) = text.split_once("\n\n") else { return Corpus::Reject };
    let is_clear = text.is_ascii() && !UNCLEAR.iter().any(|sign| patterns.contains(sign));
    if !is_clear || !paths.split('\n').take(MOST).all(|path| make(scene.root(), path)) {
        clear(scene.root());
        return Corpus::Reject;
    }
    if fs::write(scene.root().join(".gitignore"), patterns).is_err() {
        clear(scene.root());
        return Corpus::Reject; // there is a directory of that name
    }
    let (all, shown) = (entries(root, Hidden::IgnoredShown), entries(root, Hidden::Skipped));
    let mut search = Search::default();
    search.add_patterns_buffer(patterns.as_bytes(), "", None, Ignore::default()).expect("patterns");
    let expected: Vec<_> = all.into_iter().filter(|(path, kind)| !hides(&search, path, *kind)).collect();
    clear(scene.root());
    assert_eq!(shown, expected, "{patterns:?}");
    Corpus::Keep
});

/// Creates a file or directory with its parents; `false` if its name is not possible.
fn make(root: &Path, path: &str) -> bool {
    // A directory with `.git` or `.jj` in it is a repository, where the rules of those above end.
    let is_name =
        |name: &str| !matches!(name, "" | "." | ".." | ".git" | ".jj") && name.len() < 256 && !name.contains('\0');
    let plain = path.strip_suffix('/').unwrap_or(path);
    if !plain.split('/').all(is_name) || plain.len() > 1_000 {
        return false;
    }
    let place = root.join(plain);
    let made = if path.ends_with('/') {
        fs::create_dir_all(place)
    } else {
        place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(place, ""))
    };
    made.is_ok()
}

fn clear(root: &Path) {
    for entry in fs::read_dir(root).expect("root").flatten() {
        let path = entry.path();
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("it can be removed");
    }
}

/// Everything that a walk reaches.
fn entries(root: &Root, hidden: Hidden) -> Vec<(RelPath, Kind)> {
    let options = WalkOptions { hidden, max_depth: usize::MAX, exclude: Exclude::nothing().into() };
    let cancel = Cancel::default();
    let mut entries = Vec::new();
    for visit in root.walk(&RelPath::root(), options, &cancel) {
        let (_, listing) = visit.listing.expect("a directory");
        entries.extend(listing.iter().map(|entry| (visit.path.real.join(entry.name), entry.kind)));
    }
    entries
}

/// Whether git would ignore a path or anything above it.
fn hides(search: &Search, path: &RelPath, kind: Kind) -> bool {
    path.and_above().any(|step| {
        let is_dir = step != *path || kind == Kind::Directory;
        let found = search.pattern_matching_relative_path(step.as_bytes().into(), Some(is_dir), Case::Sensitive);
        found.is_some_and(|found| !found.pattern.is_negative())
    })
}
