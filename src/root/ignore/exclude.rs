//! What a call excludes from a walk: patterns in gitignore syntax, relative to the start of the walk.

use globset::{Glob, GlobBuilder};

use super::literal;
use crate::root::globs::{Globs, MAX_CACHE};

/// The limit of one pattern, in bytes.
const MAX_PATTERN: usize = 1_000;
/// The limit of all patterns of a call, in bytes.
const MAX_PATTERNS: usize = 10_000;

/// Patterns of a call that exclude entries. The last one that matches decides.
#[derive(Debug)]
pub struct Exclude {
    rules: Vec<Rule>,
    /// `None` if there are no rules.
    globs: Option<Globs>,
}

/// What a pattern says besides its glob.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Its matches are not excluded.
    is_negated: bool,
    only_directories: bool,
}

impl Exclude {
    /// Parses `patterns`. The error says which one is invalid, and why. `dir/**` also excludes `dir` itself, since
    /// there is no point in entering an empty directory. Names such as `[id]` and `{type}` also match literally.
    pub(crate) fn new(patterns: &[String]) -> Result<Self, String> {
        if patterns.iter().map(String::len).sum::<usize>() > MAX_PATTERNS {
            return Err(format!("The patterns may have at most {MAX_PATTERNS} bytes together."));
        }
        let (mut rules, mut globs) = (Vec::new(), Vec::new());
        for pattern in patterns {
            if pattern.len() > MAX_PATTERN {
                return Err(format!("A pattern may have at most {MAX_PATTERN} bytes."));
            }
            let whole = pattern.strip_suffix("/**").filter(|dir| !dir.is_empty()).unwrap_or(pattern);
            // The `/` that is removed is the one that anchors the pattern to the start of the walk.
            let (negation, dir) = whole.strip_prefix('!').map_or(("", whole), |dir| ("!", dir));
            let tie = if whole.len() < pattern.len() && !dir.contains('/') { "/" } else { "" };
            let written = literal::as_written(dir);
            for (dir, is_last) in [(Some(dir), written.is_none()), (written.as_deref(), true)] {
                let Some((rule, glob)) = dir.and_then(|dir| read(&format!("{negation}{tie}{dir}"))) else { continue };
                match compile(&glob) {
                    Ok(glob) => {
                        rules.push(rule);
                        globs.push(glob);
                    }
                    Err(error) if is_last => {
                        return Err(format!("{pattern:?} is not a valid pattern: {}", error.kind()));
                    }
                    // It can still match literally.
                    Err(_) => {}
                }
            }
        }
        let globs = (!globs.is_empty()).then(|| Globs::new(&globs, MAX_CACHE)).transpose()?;
        Ok(Self { rules, globs })
    }

    /// Excludes nothing.
    pub fn nothing() -> Self {
        Self { rules: Vec::new(), globs: None }
    }

    pub(in crate::root) fn is_empty(&self) -> bool {
        self.globs.is_none()
    }

    pub(in crate::root) fn matches(&self, path: &[u8], is_dir: bool) -> bool {
        let Some(globs) = &self.globs else { return false };
        let decisive = globs.last_match(path, |index| is_dir || !self.rules[index].only_directories);
        decisive.is_some_and(|index| !self.rules[index].is_negated)
    }
}

fn compile(glob: &str) -> Result<Glob, globset::Error> {
    let mut builder = GlobBuilder::new(glob);
    builder.literal_separator(true).backslash_escape(true).allow_unclosed_class(true).build()
}

/// A line of an ignore file as a rule and a glob (gitignore(5)); `None` if it has no meaning.
fn read(line: &str) -> Option<(Rule, String)> {
    if line.starts_with('#') {
        return None;
    }
    let line = without_final_spaces(line);
    let (is_negated, line) = match line.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix('\\').filter(|rest| rest.starts_with(['!', '#'])).unwrap_or(line)),
    };
    let relative = line.strip_prefix('/');
    let line = relative.unwrap_or(line);
    let only_directories = line.ends_with('/');
    let line = line.strip_suffix('/').map_or(line, |dir| dir.strip_suffix('\\').unwrap_or(dir));
    if line.is_empty() && !only_directories {
        return None;
    }
    let anywhere = if relative.is_none() && !line.contains('/') && line != "**" { "**/" } else { "" };
    // Matches what is in a directory, not the directory itself.
    let inside = if line.ends_with("/**") { "/*" } else { "" };
    Some((Rule { is_negated, only_directories }, format!("{anywhere}{line}{inside}")))
}

/// Trailing spaces do not count, unless escaped by a backslash.
fn without_final_spaces(line: &str) -> &str {
    let kept = line.trim_end_matches(' ');
    let backslashes = kept.len() - kept.trim_end_matches('\\').len();
    if backslashes % 2 == 1 && kept.len() < line.len() { &line[..=kept.len()] } else { kept }
}

#[cfg(test)]
mod tests {
    use ignore::gitignore::GitignoreBuilder;
    use proptest::prelude::*;

    use super::*;

    /// Lines made of meaningful pieces.
    fn lines() -> impl Strategy<Value = Vec<String>> {
        let pieces = ["a", "b", "/", "/", "*", "**", "?", "[ab]", "[!a]", "{a,b}", "!", "#", " ", "\\ ", "\\!", "\\"];
        let line = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..6);
        prop::collection::vec(line.prop_map(|pieces| pieces.concat()), 0..5)
    }

    proptest! {
        /// Apart from a final `/**`, lines mean what the `ignore` crate takes them to mean.
        #[test]
        fn lines_mean_what_they_do_in_ignore_files(
            lines in lines(), path in "[ab!# ]{1,2}(/[ab!# ]{1,2}){0,3}", is_dir: bool,
        ) {
            let mut oracle = GitignoreBuilder::new("");
            let lines: Vec<String> = lines
                .into_iter()
                .filter(|line| !line.ends_with("/**") && oracle.add_line(None, line).is_ok())
                .collect();
            let want = oracle.build().expect("few").matched(&path, is_dir).is_ignore();
            let exclude = Exclude::new(&lines).expect("they are few and short");
            prop_assert_eq!(exclude.matches(path.as_bytes(), is_dir), want, "{:?} {}", lines, path);
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let long: Vec<String> = (0..20).map(|number| format!("{}{number}", "*a?".repeat(160))).collect();
        let exclude = Exclude::new(&long).expect("not too much");
        assert!(exclude.matches(format!("{}7", "ab".repeat(200)).as_bytes(), false));
        assert!(Exclude::new(&vec!["x".repeat(999); 11]).expect_err("too many bytes").contains("10000 bytes"));
        assert!(Exclude::new(&["x".repeat(1_001)]).is_err());
        assert!(
            Exclude::new(&["a{b".to_owned()]).expect_err("no glob").starts_with("\"a{b\" is not a valid pattern: ")
        );
    }
}
