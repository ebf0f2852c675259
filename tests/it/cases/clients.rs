//! Groups F and G: how clients take resources, schemas and results.

use serde_json::{Value, json};

use crate::resources::{bytes_of, list_all, names, read};
use crate::support::{Client, LATEST_LEGACY, TestServer, Tree, names_of, run};

const IMAGE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// claude-code #545, #38460, servers #2534, #399: resources were promised, but none could be used.
#[test]
fn f1_resources_are_listed_with_what_clients_show_and_can_be_read() {
    let tree = Tree::new().file("README.md", "# hi\n").file("src/main.rs", "fn main() {}\n").file("logo.png", IMAGE);
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let resources = list_all(&mut server);
    assert_eq!(names(&resources), ["README.md", "logo.png", "src/main.rs"]);
    for (resource, mime_type) in resources.iter().zip(["text/markdown", "image/png", "text/x-rust"]) {
        let content = std::fs::read(tree.join(resource["name"].as_str().unwrap())).unwrap();
        let uri = resource["uri"].as_str().unwrap();
        assert!(uri.starts_with("file:///"), "{uri}");
        assert_eq!((&resource["mimeType"], &resource["size"]), (&json!(mime_type), &json!(content.len())));
        let item = read(&mut server, uri);
        assert_eq!((bytes_of(&item), &item["mimeType"]), (content, &json!(mime_type)));
    }
}

/// claude-code #3122, #9000: Claude Code never asks for templates; it completes names from the list.
#[test]
fn f2_the_list_names_every_file_by_the_path_that_people_type() {
    let tree = Tree::new().file("a/b c/\u{e9}.txt", "x").file("a.txt", "x").file(".dot/file", "x");
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let resources = list_all(&mut server);
    assert_eq!(names(&resources), ["a.txt", ".dot/file", "a/b c/\u{e9}.txt"]);
    for resource in &resources {
        let name = resource["name"].as_str().unwrap();
        assert_eq!(server.tool_text("read_text_file", json!({"path": name})), "x", "the model can use the same name");
    }
}

/// claude-code #3141, #24785, claude-ai-mcp #87: clients read only the first page.
#[test]
fn f3_the_first_page_is_small_and_has_the_top_level_files() {
    let tree = (0..2_500).fold(Tree::new(), |tree, number| tree.file(format!("a/deep/down/{number:04}"), ""));
    let tree = (0..500).fold(tree, |tree, number| tree.file(format!("z{number:03}"), ""));
    let mut server = TestServer::start(&tree);
    let first = server.result("resources/list", json!({}));
    let resources = first["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 1_000);
    assert!(names(resources)[..500].iter().all(|name| name.starts_with('z')), "the top level comes first");
    let again = server.result("resources/list", json!({}));
    assert_eq!(again["resources"], first["resources"], "and in the same order each time");
    let tools = server.result("tools/list", json!({}));
    assert_eq!(tools.get("nextCursor"), None, "tools are always one page");
    assert_eq!(server.error("tools/list", json!({"cursor": "x"}))["code"], -32602);
}

/// knowledge-base-mcp #130, fastmcp #4545, #5137, #5166, ag2 #3249: a listed URI could not be read.
#[cfg(unix)]
#[test]
fn f5_any_name_survives_the_round_trip_through_its_uri() {
    let odd = [
        "a b",
        "#hash",
        "what?",
        "100%",
        "%20",
        "%2520",
        "&",
        "a+b",
        "k=v",
        "\u{e9}",
        "50% plan",
        "a;b,c",
        "[x]{y}",
        "~t",
        "'q'",
        "@at:c",
        "%2F",
        "a%00b",
        "\u{1f600}",
        "\"dq\"",
        "<a>",
        "a|b^c`d",
        "back\\slash",
        "?offset=1",
        "x?limit=1",
    ];
    let tree = odd.iter().fold(Tree::new(), |tree, name| tree.file(format!("{name}/{name}"), *name));
    let mut server = TestServer::start(&tree);
    let resources = list_all(&mut server);
    assert_eq!(resources.len(), odd.len());
    for resource in &resources {
        let name = resource["name"].as_str().unwrap().split('/').next_back().unwrap();
        let uri = resource["uri"].as_str().unwrap();
        assert!(url::Url::parse(uri).is_ok(), "{uri}");
        assert_eq!(bytes_of(&read(&mut server, uri)), name.as_bytes(), "{uri}");
    }
    // Some clients do not encode; where only one name can be meant, it is taken.
    for name in ["a b", "100%", "\u{e9}", "50% plan", "&", "a+b", "#hash", "what?"] {
        let raw = format!("{}/{name}/{name}", tree.uri(""));
        let item = server.result("resources/read", json!({"uri": raw}))["contents"][0].take();
        assert_eq!(item["text"], name, "{raw}");
    }
}

/// mcptools #116, mark3labs: a capability was declared whose methods did not exist.
#[test]
fn f6_every_method_of_every_promised_capability_exists() {
    let tree = Tree::new().file("a.txt", "x");
    let methods = |capabilities: &Value, is_legacy: bool| {
        let mut methods = Vec::new();
        for (name, options) in capabilities.as_object().expect("capabilities") {
            let on = |option: &str| options[option] == true;
            match name.as_str() {
                "tools" => methods.extend(["tools/list", "tools/call"]),
                "resources" => {
                    methods.extend(["resources/list", "resources/read", "resources/templates/list"]);
                    if on("subscribe") && is_legacy {
                        methods.extend(["resources/subscribe", "resources/unsubscribe"]);
                    }
                }
                "completions" => methods.push("completion/complete"),
                "experimental" => {}
                other => panic!("{other} is promised: name its methods here"),
            }
        }
        methods
    };
    // The parameters are invalid on purpose: the error must be about them, not about the method.
    let wrong = || json!({"cursor": 1, "uri": 1, "name": 1, "ref": 1});
    let hello =
        json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    let mut legacy = TestServer::start(&tree);
    let promised = methods(&legacy.request("initialize", hello)["result"]["capabilities"], true);
    let mut modern = TestServer::start(&tree);
    let promised_to_modern = methods(&modern.result("server/discover", json!({}))["capabilities"], false);
    assert!(promised.len() >= 5 && promised_to_modern.len() >= 5, "{promised:?} {promised_to_modern:?}");
    for method in promised {
        assert_eq!(legacy.request(method, wrong())["error"]["code"], -32602, "{method}");
    }
    for method in promised_to_modern {
        assert_eq!(modern.modern(method, wrong())["error"]["code"], -32602, "{method}");
    }
}

/// vscode #291004, claude-ai-mcp #23: in many clients the model sees only tools.
#[test]
fn f10_whatever_resources_return_tools_return_too() {
    let tree = Tree::new().file("a.txt", "one\ntwo\n").file("d/logo.png", IMAGE).file("d/data.bin", b"\0\xff");
    let mut server = TestServer::start(&tree);
    for resource in list_all(&mut server) {
        let uri = resource["uri"].as_str().unwrap();
        let bytes = bytes_of(&read(&mut server, uri));
        let block = server.tool("read_media_file", json!({"path": uri}))["content"][0].take();
        let decode = |data: &Value| base64_simd::STANDARD.decode_to_vec(data.as_str().unwrap()).unwrap();
        let given = block.get("data").map_or_else(|| bytes_of(&block["resource"]), decode);
        assert_eq!(given, bytes, "{uri}");
    }
    let range = read(&mut server, &(tree.uri("a.txt") + "?offset=2&limit=1&column=2"));
    let lines = json!({"path": tree.uri("a.txt"), "offset": 2, "limit": 1, "column": 2});
    assert_eq!(range["text"], server.tool_text("read_text_file", lines));
    let directory = read(&mut server, &tree.uri("d"));
    assert_eq!(directory["text"], server.tool_text("list_directory", json!({"path": tree.uri("d")})));
}

/// Calls `check` on every object in a schema.
fn each_schema(schema: &Value, check: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match schema {
        Value::Object(members) => {
            check(members);
            members.values().for_each(|member| each_schema(member, check));
        }
        Value::Array(items) => items.iter().for_each(|item| each_schema(item, check)),
        _ => {}
    }
}

fn tools() -> Vec<Value> {
    let tree = Tree::new();
    let mut list = TestServer::start(&tree).result("tools/list", json!({}));
    assert!(names_of(&list).len() >= 8, "{list}");
    std::mem::take(list["tools"].as_array_mut().unwrap())
}

/// typescript-sdk #2721, gemini-cli #14970, #5388: clients rejected every call because of a dialect that they did not
/// know.
#[test]
fn g1_g2_no_schema_names_a_dialect_or_refers_elsewhere() {
    for tool in tools() {
        each_schema(&tool, &mut |object| {
            for key in ["$schema", "$ref", "$defs", "$id", "definitions"] {
                assert!(!object.contains_key(key), "{}: {key}", tool["name"]);
            }
        });
    }
}

/// servers #4772, claude-code #88049: one schema without `type: object` removed all tools.
#[test]
fn g3_every_schema_is_of_an_object() {
    for tool in tools() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool.get("outputSchema"), None, "{tool}");
    }
}

/// claude-code #56174, #45106, #95504, mcpx #28: combinators and lists of types were rejected or dropped silently.
#[test]
fn g4_schemas_have_single_types_and_no_combinators() {
    for tool in tools() {
        each_schema(&tool["inputSchema"], &mut |object| {
            for key in ["oneOf", "anyOf", "allOf", "not", "if", "then", "else", "const"] {
                assert!(!object.contains_key(key), "{}: {key}", tool["name"]);
            }
            assert!(!object.get("type").is_some_and(Value::is_array), "{}: {object:?}", tool["name"]);
        });
        let none = serde_json::Map::new();
        for (name, property) in tool["inputSchema"]["properties"].as_object().unwrap_or(&none) {
            assert!(property["type"].is_string() && property["description"].is_string(), "{}: {name}", tool["name"]);
        }
    }
}

/// claude-code #79944, #9962, hermes-agent PR #7118: some clients show only structuredContent, and others never do.
#[test]
fn g5_the_whole_answer_is_in_content_and_nowhere_else() {
    let tree = Tree::new().file("a.txt", "one\n").file("d/b.txt", "");
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let list = server.result("tools/list", json!({}));
    for name in names_of(&list) {
        let arguments = match name {
            "read_text_file" | "read_media_file" | "get_file_info" => json!({"path": "a.txt"}),
            "read_multiple_files" => json!({"paths": ["a.txt"]}),
            "search_files" => json!({"path": "", "pattern": "*.txt"}),
            "search_text" => json!({"query": "one"}),
            _ => json!({}),
        };
        let result = server.tool(name, arguments);
        assert_ne!(result["isError"], true, "{name}: {result}");
        assert_eq!(result.get("structuredContent"), None, "{name}");
        let blocks = result["content"].as_array().unwrap();
        let is_shown =
            |block: &Value| ["text", "image", "audio", "resource"].contains(&block["type"].as_str().unwrap());
        assert!(!blocks.is_empty() && blocks.iter().all(is_shown), "{name}: {result}");
    }
}

/// 2026-07-28: a list whose order changes defeats the prompt cache.
#[test]
fn g8_the_list_of_tools_is_the_same_bytes_every_time() {
    let tree = Tree::new();
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": crate::support::client::with_meta(json!({}))});
    let input = format!("{line}\n{line}\n");
    let outputs = [(); 2].map(|()| run([tree.path()], &input).stdout);
    assert_eq!(outputs[0], outputs[1], "two processes");
    let lines: Vec<&[u8]> = outputs[0].split(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 3, "two answers");
    assert_eq!(lines[0], lines[1], "two requests of one process");
    assert!(lines[0].len() <= 12 << 10, "{} bytes", lines[0].len());
}
