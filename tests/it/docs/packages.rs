//! What packages say about the program, in files that cannot take it from `Cargo.toml`.

use std::fs;

use serde_json::Value;

use super::{page, top};

fn manifest(name: &str) -> Value {
    serde_json::from_str(&page(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_plugin_and_the_extension_have_the_version_of_the_program() {
    for name in ["packaging/claude-code/mcp-fs/.claude-plugin/plugin.json", "packaging/gemini/gemini-extension.json"] {
        assert_eq!(manifest(name)["version"], env!("CARGO_PKG_VERSION"), "{name}");
    }
}

/// Neither may allow writes: the user did not choose that when installing it.
#[test]
fn the_plugin_and_the_extension_serve_the_project_read_only() {
    let servers = [
        ("packaging/claude-code/mcp-fs/.mcp.json", "${CLAUDE_PROJECT_DIR}"),
        ("packaging/gemini/gemini-extension.json", "${workspacePath}"),
    ];
    for (name, directory) in servers {
        let server = &manifest(name)["mcpServers"]["files"];
        assert_eq!(server["command"], "mcp-fs", "{name}");
        assert_eq!(server["args"], serde_json::json!([directory]), "{name}");
        assert!(server.get("env").is_none(), "{name}: no MCP_FS_ALLOW_WRITE");
    }
}

/// npm 12 does not run install scripts, so a package that needs one does not work there.
#[test]
fn the_npm_packages_have_no_install_scripts() {
    let packer = fs::read_to_string(top().join("packaging/npm/pack.mjs")).expect("packaging/npm/pack.mjs");
    for script in ["scripts", "preinstall", "postinstall"] {
        assert!(!packer.contains(script), "{script}");
    }
}
