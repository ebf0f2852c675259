//! The three formats of prompt files, determined by their folder.

use std::path::{Component, Path};

/// The format of the files in a folder. `docs/prompts.md` says which parts of it are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// This server's own: arguments in the front matter, `{{name}}` and `{{file:PATH}}` in the text.
    Own,
    /// Commands of Claude Code, in `.claude/commands`: `$ARGUMENTS` and `$1` to `$9`.
    ClaudeCommand,
    /// Prompt files of GitHub Copilot, in `.github/prompts`: `${input:name}`.
    CopilotPrompt,
}

impl Format {
    /// The format of the files in `folder`, judged by its path.
    pub fn of_folder(folder: &Path) -> Self {
        let names: Vec<Component<'_>> = folder.components().collect();
        let holds = |above: &str, name: &str| {
            names.windows(2).any(|pair| pair[0].as_os_str() == above && pair[1].as_os_str() == name)
        };
        if holds(".claude", "commands") {
            Self::ClaudeCommand
        } else if holds(".github", "prompts") {
            Self::CopilotPrompt
        } else {
            Self::Own
        }
    }

    /// The ending of the names of its files.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Own | Self::ClaudeCommand => ".md",
            Self::CopilotPrompt => ".prompt.md",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_the_folder() {
        for (folder, format) in [
            ("/p/.claude/commands", Format::ClaudeCommand),
            ("/p/.claude/commands/git", Format::ClaudeCommand),
            ("/p/.github/prompts", Format::CopilotPrompt),
            ("/p/prompts", Format::Own),
            ("/p/.claude/x/commands", Format::Own),
            ("/p/.github/my-prompts", Format::Own),
        ] {
            assert_eq!(Format::of_folder(Path::new(folder)), format, "{folder}");
        }
    }
}
