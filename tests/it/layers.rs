//! The order of the layers: a module may use those below it, and none above. Checked in the code of every file;
//! comments may name anything.

use crate::tidy::{Source, sources};

/// From top to bottom. Everything in `src/` belongs to one of them.
const LAYERS: [&str; 19] = [
    "main",
    "lib",
    "cli",
    "check",
    "transport",
    "peer",
    "protocol",
    "jsonrpc",
    "server",
    "features",
    "services",
    "call",
    "root",
    "runtime",
    "limits",
    "log",
    "object",
    "text",
    "bytes",
];

/// Below all layers: pure functions that any of them may use.
const LEAVES: [&str; 1] = ["hostile"];

/// The same within `root/`: from a path to what is at its end. `mod.rs` is the facade that all of them extend.
const ROOT: [&str; 24] = [
    "unsandboxed",
    "write",
    "sandbox",
    "watch_path",
    "presence",
    "walk",
    "ignore",
    "open",
    "resolve",
    "alike",
    "listing",
    "globs",
    "sys",
    "hints",
    "locate",
    "uri",
    "protect",
    "deny",
    "patterns",
    "fold",
    "error",
    "stat",
    "path",
    "mod",
];

/// The position of a module in an order.
fn rank(order: &[&str], module: &str) -> Option<usize> {
    order.iter().position(|layer| *layer == module)
}

/// The module that a path such as `src/root/write/mod.rs` belongs to, below `above`.
fn layer<'s>(source: &'s Source, above: &str) -> &'s str {
    let path = source.path.strip_prefix(above).unwrap_or(&source.path);
    path.split(['/', '.']).next().unwrap_or(path)
}

/// The modules that a line names after one of `prefixes`, including those in braces.
fn named<'l>(line: &'l str, prefixes: &[&str]) -> Vec<&'l str> {
    let word = |text: &'l str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(text);
    let mut found = Vec::new();
    for prefix in prefixes {
        for (at, _) in line.match_indices(prefix) {
            let rest = &line[at + prefix.len()..];
            match rest.strip_prefix('{') {
                Some(list) => {
                    found.extend(list.split([',', '}']).map(|name| word(name.trim())).filter(|name| !name.is_empty()));
                }
                None => found.push(word(rest)),
            }
        }
    }
    found
}

/// Fails with every line that names a module above its own.
fn check(sources: &[Source], above: &str, order: &[&str], prefixes: &[&str]) {
    let mut upward = Vec::new();
    for source in sources {
        let own = layer(source, above);
        if LEAVES.contains(&own) {
            continue;
        }
        let own = rank(order, own).unwrap_or_else(|| panic!("{}: which layer is it?", source.path));
        for (number, line) in source.code() {
            for name in named(line, prefixes) {
                if rank(order, name).is_some_and(|named| named < own) {
                    upward.push(format!("{}:{number} names {name}", source.path));
                }
            }
        }
    }
    assert!(upward.is_empty(), "a layer uses one above it:\n{}", upward.join("\n"));
}

#[test]
fn every_module_uses_only_the_layers_below_it() {
    check(&sources("src"), "src/", &LAYERS, &["crate::", "mcp_fs::"]);
}

#[test]
fn the_modules_of_the_root_have_an_order_and_no_circle() {
    let inside: Vec<Source> =
        sources("src/root").into_iter().filter(|source| source.path != "src/root/mod.rs").collect();
    let (files, folders): (Vec<Source>, Vec<Source>) =
        inside.into_iter().partition(|source| source.path.matches('/').count() == 2);
    check(&files, "src/root/", &ROOT, &["super::", "crate::root::"]);
    check(&folders, "src/root/", &ROOT, &["crate::root::"]);
}

#[test]
fn names_are_found_in_paths_and_in_braces() {
    let prefixes = ["crate::", "super::"];
    assert_eq!(named("use crate::root::{Kind, Root};", &prefixes), ["root"]);
    assert_eq!(named("use crate::{log, peer::Peer};", &prefixes), ["log", "peer"]);
    assert_eq!(named("let x = crate::log::escaped(super::open::PIECE);", &prefixes), ["log", "open"]);
}
