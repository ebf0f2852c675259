//! Every path that the server shows is accepted by everything that takes a path.

use serde_json::{Value, json};

use crate::support::{Client, TestServer, Tree, run};

fn tree() -> Tree {
    Tree::new().file("a", "inside").file("sub/file", "inside")
}

/// The served directory in the forms that people and programs write.
fn spellings(tree: &Tree) -> Vec<String> {
    let root = tree.path().to_str().expect("text").to_owned();
    let (drive, rest) = root.split_at(1);
    let other_case = format!("{}{}", drive.to_lowercase(), rest.to_uppercase());
    let slashes = root.replace('\\', "/");
    vec![format!(r"\\?\{root}"), format!("//?/{slashes}"), format!(r"\??\{root}"), other_case, slashes, root]
}

#[test]
fn shown_paths_are_plain() {
    let tree = tree();
    let root = tree.path().to_str().expect("text").to_owned();
    let mut server = TestServer::start(&tree);
    let answer = server.modern("server/discover", json!({}));
    let listed = server.tool_text("list_allowed_directories", json!({}));
    let check = run(["--check", &format!(r"\\?\{root}")], b"");
    let check = String::from_utf8_lossy(&check.stdout).into_owned();
    for said in [answer["result"]["instructions"].as_str().expect("text"), &listed, &check] {
        assert!(said.contains(&root) && !said.contains(r"\\?\"), "{said}");
    }
}

#[test]
fn every_spelling_of_an_absolute_path_is_read() {
    let tree = tree();
    let mut server = TestServer::builder(&tree).allow_write().start();
    for root in spellings(&tree) {
        for file in [format!(r"{root}\sub\file"), format!("{root}/sub/file"), format!(r"{root}\.\sub\..\sub\FILE")] {
            assert_eq!(server.tool_text("read_text_file", json!({"path": file})), "inside", "{file}");
            server.tool_text("write_file", json!({"path": file, "content": "inside"}));
        }
        for tool in ["list_directory", "list_directory_with_sizes", "directory_tree"] {
            let said = server.tool_text(tool, json!({"path": root}));
            assert!(said.contains("sub"), "{tool} {root}: {said}");
        }
        for pattern in [format!("{root}/**/file"), format!("{root}/sub/*")] {
            let said = server.tool_text("search_files", json!({"path": ".", "pattern": pattern}));
            assert!(said.contains("file"), "{pattern}: {said}");
        }
    }
}

#[test]
fn every_uri_that_is_shown_is_read() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let listed = server.modern("resources/list", json!({}));
    let uris = listed["result"]["resources"].as_array().expect("resources");
    let read: Vec<Value> =
        uris.iter().map(|shown| server.modern("resources/read", json!({"uri": shown["uri"]}))).collect();
    assert_eq!(read.len(), 2);
    assert!(read.iter().all(|read| read["result"]["contents"][0]["text"] == "inside"), "{read:?}");
}

#[test]
fn a_path_is_completed_after_either_separator() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let listed = server.modern("resources/templates/list", json!({}));
    let template = listed["result"]["resourceTemplates"][0]["uriTemplate"].clone();
    let root = tree.path().to_str().expect("text").to_owned();
    for typed in ["sub/f".to_owned(), r"sub\f".to_owned(), format!(r"{root}\sub\f"), r"SUB\".to_owned()] {
        let params = json!({"ref": {"type": "ref/resource", "uri": template},
            "argument": {"name": "path", "value": typed}});
        let answer = server.modern("completion/complete", params);
        let values = answer["result"]["completion"]["values"].as_array().expect("values");
        let ends_well = |value: &Value| value.as_str().is_some_and(|value| value.ends_with("/file"));
        assert!(values.len() == 1 && ends_well(&values[0]), "{typed}: {answer}");
    }
}
