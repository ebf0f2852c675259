//! What exists only on Windows: other names of a file, other spellings of a path, and files locked by a program.
//! `.ci/windows` runs these tests on Linux, under wine.
//!
//! | module | holds |
//! | --- | --- |
//! | `escapes` | every spelling that could lead to a denied file or outside, times every operation |
//! | `spellings` | every path that the server shows is accepted |
//! | `writing` | replacing, read-only files, case-only renames, impossible names |

mod escapes;
mod spellings;
mod writing;

use std::process::Command;

use crate::support::Tree;

/// The short name that the system has given to an entry of the tree, such as `ENV~1`. `None` if it gives none, as is
/// usual on drives other than `C:`.
fn short_name(tree: &Tree, directory: &str, name: &str) -> Option<String> {
    let directory = tree.join(directory);
    let listed = Command::new("cmd").args(["/c", "dir", "/x", "/a"]).arg(directory).output().expect("cmd runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let line = listed.lines().find_map(|line| line.trim_end().strip_suffix(name))?;
    line.split_whitespace().last().filter(|word| word.contains('~')).map(str::to_owned)
}
