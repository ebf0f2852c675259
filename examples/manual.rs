//! The man page and the shell completions, generated from the options of the program itself.
//!
//! ```sh
//! cargo run --example manual -- man > mcp-fs.1
//! cargo run --example manual -- bash > mcp-fs.bash      # or zsh, fish, powershell, elvish
//! ```

use std::io::{self, Write};

use clap::{CommandFactory as _, ValueEnum as _};
use clap_complete::Shell;
use mcp_fs::cli::Cli;

fn main() -> io::Result<()> {
    let text = page(&std::env::args().nth(1).unwrap_or_default())?;
    match io::stdout().write_all(&text) {
        // `| head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

pub(crate) fn page(wanted: &str) -> io::Result<Vec<u8>> {
    let (mut command, mut text) = (Cli::command(), Vec::new());
    if wanted == "man" {
        clap_mangen::Man::new(command).render(&mut text)?;
        return Ok(text);
    }
    let shell = Shell::from_str(wanted, true)
        .map_err(|_| io::Error::other("say which: man, bash, zsh, fish, powershell or elvish"))?;
    clap_complete::generate(shell, &mut command, "mcp-fs", &mut text);
    Ok(text)
}
