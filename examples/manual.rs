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
    write(&std::env::args().nth(1).unwrap_or_default(), &mut io::stdout())
}

pub(crate) fn write(wanted: &str, out: &mut impl Write) -> io::Result<()> {
    let mut command = Cli::command();
    if wanted == "man" {
        return clap_mangen::Man::new(command).render(out);
    }
    let shell = Shell::from_str(wanted, true)
        .map_err(|_| io::Error::other("say which: man, bash, zsh, fish, powershell or elvish"))?;
    clap_complete::generate(shell, &mut command, "mcp-fs", out);
    Ok(())
}
