//! Names that may be read but never changed: files that other programs run or obey without asking, such as git's hooks
//! and an editor's tasks.
//!
//! They are a list of [patterns](super::patterns), like the denied names. Otherwise, write access alone would let a
//! client run programs as the user: one line in `.git/config` is enough.

use std::fmt;

use super::path::RelPath;
use super::patterns::{Found, Patterns};

/// Protected unless `--no-default-protect` is given.
#[rustfmt::skip]
const DEFAULT: &[&str] = &[
    // Version control: hooks, filters, aliases
    ".git/", ".hg/", ".svn/", ".gitmodules", ".gitconfig", ".husky/", ".pre-commit-config.yaml",
    // Editors and agents: tasks, commands, servers
    ".vscode/", ".idea/", ".zed/", ".devcontainer/", ".claude/", ".codex/", ".gemini/", ".cursor/", ".windsurf/",
    ".mcp.json",
    // Read by tools and shells when they start
    ".envrc", ".cargo/", ".npmrc", ".ripgreprc", ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshenv",
    ".zprofile", ".zshrc", ".zlogin",
];

/// The protected names.
#[derive(Debug)]
pub struct Protect {
    names: Patterns,
    /// The prompts folder.
    prompts: Option<Patterns>,
}

/// The pattern that protects something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtectedBy {
    /// A pattern in the list.
    Pattern(Found),
    /// It is in the prompts folder.
    Prompts,
}

impl Protect {
    /// Parses `patterns`. The error says which one is invalid, and why.
    pub fn new(patterns: &[String], defaults: bool) -> Result<Self, String> {
        let names = Patterns::new("--protect", patterns, if defaults { DEFAULT.to_vec() } else { Vec::new() })?;
        Ok(Self { names, prompts: None })
    }

    /// Also protects the prompts folder: what clients write must not become a message in the user's name. If the folder
    /// is all of DIR, its Markdown files are protected.
    pub fn with_prompts(self, folder: &RelPath) -> Result<Self, String> {
        let escape = |c: char| if "*?[]\\".contains(c) || c == ' ' { format!("\\{c}") } else { c.to_string() };
        let pattern = if folder.is_root() {
            "*.md".to_owned()
        } else {
            format!("/{}/", folder.display().chars().map(escape).collect::<String>())
        };
        Ok(Self { prompts: Some(Patterns::new("--prompts", &[pattern], Vec::new())?), ..self })
    }

    /// `Err` if the path or anything above it is protected.
    pub(crate) fn check(&self, path: &RelPath) -> Result<(), ProtectedBy> {
        if self.prompts.as_ref().is_some_and(|prompts| prompts.find(path).is_some()) {
            return Err(ProtectedBy::Prompts);
        }
        self.names.find(path).map_or(Ok(()), |found| Err(ProtectedBy::Pattern(found)))
    }
}

/// The names as `--check` shows them.
impl fmt::Display for Protect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (defaults, given) = self.names.all();
        match (defaults.len(), given.len()) {
            (0, 0) => f.write_str("nothing"),
            _ => f.write_str(
                &defaults.iter().copied().chain(given.iter().map(String::as_str)).collect::<Vec<_>>().join(" "),
            ),
        }
    }
}

impl fmt::Display for ProtectedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Pattern(Found { pattern, is_given }) = self else {
            return f.write_str("in the folder of the prompts (--prompts), which can be read but not changed");
        };
        let of = if *is_given { " given with --protect" } else { "" };
        write!(f, "protected by the pattern \"{pattern}\"{of}: it can be read but not changed")?;
        f.write_str(if *is_given { "" } else { "; --no-default-protect lifts the default patterns" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(protect: &Protect, path: &str) -> Option<String> {
        protect.check(&RelPath::from_bytes(path.as_bytes())).err().map(|by| by.to_string())
    }

    #[test]
    fn what_others_run_or_obey_is_protected_by_default() {
        let protect = Protect::new(&[], true).expect("no patterns");
        for pattern in DEFAULT {
            let name = pattern.trim_end_matches('/');
            for path in
                [name.to_owned(), format!("a/{name}"), format!("{name}/x/y"), name.to_uppercase(), format!("{name}:")]
            {
                assert!(protected(&protect, &path).is_some_and(|by| by.contains(pattern)), "{path}");
            }
        }
        for path in [".gitignore", ".github/workflows/ci.yml", "git/hooks/x", ".zshrc.bak", "Makefile", "CLAUDE.md"] {
            assert_eq!(protected(&protect, path), None, "{path}");
        }
    }

    #[test]
    fn the_error_names_the_pattern_and_its_flag() {
        let protect = Protect::new(&["/Vendor/".to_owned()], true).expect("a pattern");
        let by = |path| protected(&protect, path).expect("protected");
        assert_eq!(
            by("vendor/a"),
            "protected by the pattern \"/Vendor/\" given with --protect: it can be read but not changed"
        );
        assert!(by(".GIT/config").ends_with("; --no-default-protect lifts the default patterns"));
        let lifted = Protect::new(&["*.lock".to_owned()], false).expect("a pattern");
        assert_eq!(protected(&lifted, ".git/config"), None);
        assert!(protected(&lifted, "a/Cargo.lock").is_some());
        assert!(Protect::new(&["!x".to_owned()], true).is_err_and(|error| error.starts_with("--protect")));
    }
}
