//! What a killed write leaves behind: a temporary name that no client ever sees, and that a later write removes once it
//! is old.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{names, writing};
use crate::support::{Client, Tree};

const NAME: &str = ".mcp-fs-0123456789abcdef.tmp";
const HOUR: Duration = Duration::from_hours(1);

fn aged(tree: &Tree, path: &str, age: Duration) {
    let file = fs::File::options().write(true).open(tree.join(path)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn an_old_leftover_is_removed_by_the_next_write_there() {
    let tree = Tree::new().file(NAME, "part").file(format!("d/{NAME}"), "part");
    aged(&tree, NAME, HOUR * 2);
    aged(&tree, &format!("d/{NAME}"), HOUR * 2);
    let mut server = writing(&tree);
    server.tool_text("write_file", json!({"path": "a", "content": "x"}));
    assert_eq!(names(&tree, ""), ["a", "d"]);
    assert_eq!(names(&tree, "d"), [NAME], "nothing was written there");
}

#[test]
fn a_recent_temporary_file_is_kept() {
    let tree = Tree::new().file(NAME, "part");
    aged(&tree, NAME, HOUR / 2);
    writing(&tree).tool_text("write_file", json!({"path": "a", "content": "x"}));
    assert_eq!(names(&tree, ""), [NAME, "a"]);
}

#[test]
fn a_file_with_a_similar_name_is_kept() {
    let others = [".mcp-fs-.tmp", ".mcp-fs-1.tmpx", "mcp-fs-1.tmp"];
    let tree = others.iter().fold(Tree::new().dir(NAME), |tree, name| tree.file(name, "theirs"));
    for name in others {
        aged(&tree, name, HOUR * 2);
    }
    writing(&tree).tool_text("write_file", json!({"path": "a", "content": "x"}));
    for name in others {
        assert!(names(&tree, "").contains(&name.to_owned()), "{name} is gone");
    }
    assert!(names(&tree, "").contains(&NAME.to_owned()), "a directory is none of ours");
}

#[test]
fn clients_can_neither_see_nor_touch_leftovers() {
    let tree = Tree::new().file(NAME, "part").file("a", "a");
    let mut server = writing(&tree);
    assert_eq!(server.tool_text("list_directory", json!({})), "[FILE] a");
    assert!(server.tool_error("read_text_file", json!({"path": NAME})).contains("denied"));
    assert!(server.tool_error("write_file", json!({"path": NAME, "content": "x"})).contains("denied"));
    assert!(server.tool_error("write_file", json!({"path": ".MCP-FS-2.tmp", "content": "x"})).contains("denied"));
    assert_eq!(names(&tree, ""), [NAME, "a"]);
}
