//! The three kinds of prompt files, told by the folder that they are in.

use std::path::{Component, Path};

/// How the files of a folder are written. Which of it is taken, and what is not, says `docs/prompts.md`.
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
    /// Of the files in `folder`, by the names on the way to it.
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

    /// How the names of its files end.
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
