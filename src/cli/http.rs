//! The options of the HTTP server, and what they lead to before the kernel sandbox: bound sockets and access rules.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the token file and the socket lie outside DIR; both are opened before the sandbox"
)]

#[cfg(unix)]
mod unix_socket;

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;

use super::StartupError;
use crate::root::Root;
use crate::transport::http::access::Access;
use crate::transport::http::listener::{self, Address, Bound};
use crate::transport::http::token;

/// The environment variable that holds the token.
const TOKEN_VARIABLE: &str = "MCP_FS_TOKEN";

/// Options of the HTTP server.
#[derive(Args, Clone, Debug, Default)]
pub struct HttpOptions {
    /// Serve any number of clients over HTTP at ADDRESS instead of one over stdio: IP:PORT, localhost:PORT, unix:PATH, or
    /// systemd for socket activation.
    #[arg(long = "http", id = "http", value_name = "ADDRESS")]
    pub address: Option<Address>,

    /// Read the token that clients must send from FILE (or set `MCP_FS_TOKEN`).
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,

    /// Do not ask for a token; loopback addresses and Unix sockets only.
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub no_token: bool,

    /// Accept requests for HOST in addition to localhost; repeatable.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub allow_host: Vec<String>,

    /// Accept requests from web pages of ORIGIN, written as in the Origin header; repeatable.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub allow_origin: Vec<String>,

    /// Set the permissions of the Unix socket, in octal. Default: 600.
    #[arg(long, value_name = "MODE", requires = "http")]
    pub socket_mode: Option<String>,

    /// Set the group of the Unix socket, by its number.
    #[arg(long, value_name = "GID", requires = "http")]
    pub socket_group: Option<u32>,
}

/// What the HTTP server needs from outside DIR.
#[derive(Debug)]
pub struct Door {
    /// Bound sockets.
    pub bound: Vec<Bound>,
    /// Who may come in.
    pub access: Access,
    /// Lines for stderr: the address of the server, and what to paste into clients.
    pub notices: Vec<String>,
}

impl HttpOptions {
    /// Binds the sockets and reads the token. `None` without `--http`.
    pub fn open(&self, root: &Root) -> Result<Option<Door>, StartupError> {
        let Some(address) = &self.address else { return Ok(None) };
        let is_unix = matches!(address, Address::Unix(_));
        if !is_unix && (self.socket_mode.is_some() || self.socket_group.is_some()) {
            return Err(StartupError("--socket-mode and --socket-group need --http unix:PATH".to_owned()));
        }
        let bound = self.bind(address, root)?;
        let is_local = bound.iter().all(|bound| bound.address().is_none_or(|address| address.ip().is_loopback()));
        let (token, is_made) = self.token(root, is_local)?;
        let urls: Vec<String> = bound.iter().map(|bound| url(bound, address)).collect();
        let notices = urls.iter().map(|url| format!("listening on {url}"));
        let pasted = token.iter().filter(|_| is_made).flat_map(|token| lines_to_paste(&urls[0], token));
        let notices = notices.chain(pasted).collect();
        let access = Access { token, hosts: self.allow_host.clone(), origins: self.allow_origin.clone() };
        let access = bound.iter().filter_map(Bound::address).fold(access, Access::at);
        Ok(Some(Door { bound, access, notices }))
    }

    fn bind(&self, address: &Address, root: &Root) -> Result<Vec<Bound>, StartupError> {
        let cannot = |error: io::Error| StartupError(format!("cannot listen on {address}: {error}"));
        let bound = match address {
            Address::Tcp(_) | Address::Localhost(_) => listener::bind_tcp(address).map_err(cannot)?,
            #[cfg(unix)]
            Address::Unix(path) => vec![self.bind_unix(path, root)?],
            #[cfg(unix)]
            Address::Systemd => listener::inherited().map_err(cannot)?,
            #[cfg(not(unix))]
            Address::Unix(_) | Address::Systemd => {
                let _ = root;
                return Err(StartupError("--http unix:PATH and systemd need a Unix system; use IP:PORT".to_owned()));
            }
        };
        if bound.is_empty() {
            return Err(StartupError("--http systemd: the process was given no socket (LISTEN_FDS)".to_owned()));
        }
        Ok(bound)
    }

    /// The token, and whether it was generated.
    fn token(&self, root: &Root, is_local: bool) -> Result<(Option<String>, bool), StartupError> {
        let variable = std::env::var_os(TOKEN_VARIABLE);
        if self.no_token {
            return match variable {
                Some(_) => Err(StartupError(format!("--no-token is given, but {TOKEN_VARIABLE} is set; choose one"))),
                None if is_local => Ok((None, false)),
                None => Err(StartupError(
                    "--no-token is for loopback addresses and Unix sockets: anybody could use this server; give it a \
                     token with --token-file or MCP_FS_TOKEN"
                        .to_owned(),
                )),
            };
        }
        if let Some(path) = &self.token_file {
            return Ok((Some(read_token(path, root)?), false));
        }
        if let Some(value) = variable {
            let value = value.to_str().unwrap_or_default();
            return Ok((Some(token::read(TOKEN_VARIABLE, value).map_err(StartupError)?), false));
        }
        if !io::stderr().is_terminal() {
            return Err(StartupError(
                "--http needs a token: give one with --token-file or MCP_FS_TOKEN, or --no-token to ask for none"
                    .to_owned(),
            ));
        }
        match token::random() {
            Some(token) => Ok((Some(token), true)),
            None => {
                Err(StartupError("the system has no random bytes for a token; give one with --token-file".to_owned()))
            }
        }
    }
}

fn read_token(path: &Path, root: &Root) -> Result<String, StartupError> {
    let source = format!("the token file {}", path.display());
    let cannot = |error: io::Error| StartupError(format!("cannot read {source}: {error}"));
    if is_inside(path, root).map_err(cannot)? {
        return Err(StartupError(format!("{source} is inside DIR, where clients could read it; move it out")));
    }
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(StartupError(format!("{source} is not a regular file")));
    }
    let mut text = String::new();
    let most = token::LONGEST as u64 + 2;
    File::open(path).and_then(|file| file.take(most).read_to_string(&mut text)).map_err(cannot)?;
    token::read(&source, &text).map_err(StartupError)
}

/// Whether a path on the host leads into DIR.
fn is_inside(path: &Path, root: &Root) -> io::Result<bool> {
    Ok(fs::canonicalize(path)?.starts_with(root.path()))
}

/// The URL that clients use to reach a socket.
fn url(bound: &Bound, address: &Address) -> String {
    match bound.address() {
        Some(address) => format!("http://{address}/mcp"),
        None => address.to_string(),
    }
}

fn lines_to_paste(url: &str, token: &str) -> [String; 4] {
    let config = serde_json::json!({
        "name": "files", "type": "http", "url": url, "headers": { "Authorization": format!("Bearer {token}") },
    });
    [
        format!("token: {token}"),
        format!("Claude Code: claude mcp add --transport http files {url} --header \"Authorization: Bearer {token}\""),
        format!("VS Code: code --add-mcp '{config}'"),
        format!(
            "Codex: export {TOKEN_VARIABLE}={token}; codex mcp add files --url {url} --bearer-token-env-var {TOKEN_VARIABLE}"
        ),
    ]
}
