//! A client without an SDK, in both eras: it starts a server, asks what there is, reads a file, and calls a tool.
//!
//! ```sh
//! cargo build && cargo run -q --example client -- sample-root
//! ```

use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

type Answer = Result<Value, Box<dyn std::error::Error>>;

/// A server that this client has started. It ends when its stdin is closed.
struct Server {
    requests: ChildStdin,
    messages: BufReader<ChildStdout>,
    last_id: u64,
    /// 2026-07-28: no handshake; every request names its revision.
    is_modern: bool,
    _process: Child,
}

impl Server {
    fn start(program: &Path, directory: &str, is_modern: bool) -> Result<Self, Box<dyn std::error::Error>> {
        let mut command = Command::new(program);
        command.arg(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let requests = process.stdin.take().ok_or("stdin is piped")?;
        let messages = BufReader::new(process.stdout.take().ok_or("stdout is piped")?);
        Ok(Self { requests, messages, last_id: 0, is_modern, _process: process })
    }

    /// Sends a request and waits for its answer, which is recognised by its id: others may come first.
    fn ask(&mut self, method: &str, mut params: Value) -> Answer {
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.messages.read_line(&mut line)? == 0 {
                return Err("the server ended".into());
            }
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == json!(self.last_id) {
                return match message.get("error") {
                    Some(error) => Err(error["message"].to_string().into()),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    /// One message is one line of JSON.
    fn send(&mut self, message: &Value) -> std::io::Result<()> {
        writeln!(self.requests, "{message}")
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "sample-root".to_owned());
    // Cargo puts examples in a directory below that of the program.
    let program = std::env::current_exe()?.with_file_name("../mcp-fs");
    run(&program, &directory, &mut std::io::stdout())
}

pub(crate) fn run(program: &Path, directory: &str, out: &mut impl Write) -> Result<(), Box<dyn std::error::Error>> {
    let mut server = Server::start(program, directory, false)?;
    writeln!(out, "2025-11-25: a session that begins with a handshake")?;
    let client = json!({"name": "example", "version": "1.0"});
    let offer = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let hello = server.ask("initialize", offer)?;
    writeln!(out, "  initialize       {} speaks {}", hello["serverInfo"]["name"], hello["protocolVersion"])?;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    show(&mut server, out)?;

    let mut server = Server::start(program, directory, true)?;
    writeln!(out, "2026-07-28: no session; each request stands alone")?;
    let offer = server.ask("server/discover", json!({}))?;
    writeln!(out, "  server/discover  speaks {}", offer["supportedVersions"])?;
    show(&mut server, out)
}

/// From here on, both eras look the same.
fn show(server: &mut Server, out: &mut impl Write) -> Result<(), Box<dyn std::error::Error>> {
    let tools = server.ask("tools/list", json!({}))?["tools"].take();
    writeln!(out, "  tools/list       {} tools, first {}", tools.as_array().map_or(0, Vec::len), tools[0]["name"])?;
    let resources = server.ask("resources/list", json!({}))?["resources"].take();
    let haiku = resources.as_array().and_then(|all| all.iter().find(|resource| resource["name"] == "haiku.txt"));
    let haiku = haiku.ok_or("no haiku.txt")?;
    writeln!(out, "  resources/list   {} files", resources.as_array().map_or(0, Vec::len))?;
    let read = server.ask("resources/read", json!({"uri": haiku["uri"]}))?;
    writeln!(out, "  resources/read   {}", read["contents"][0]["text"])?;
    for path in ["haiku.txt", "../secret"] {
        let call = json!({"name": "read_text_file", "arguments": {"path": path}});
        let result = server.ask("tools/call", call)?;
        let kind = if result["isError"] == true { "refused" } else { "read" };
        writeln!(out, "  tools/call       {path} is {kind}: {}", result["content"][0]["text"])?;
    }
    Ok(())
}
