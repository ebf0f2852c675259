//! Files made to break prompts, and names that lead elsewhere.

use serde_json::json;

use super::{names, serve};
use crate::support::{Client, Tree};

#[test]
fn one_hostile_file_of_each_kind_hides_no_other() {
    let deep = format!("---\nx: {}{}\n---\nx", "[".repeat(5_000), "]".repeat(5_000));
    let bomb = "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\ndescription: *b\n---\nx";
    let tree = Tree::new()
        .file("prompts/good.md", "x")
        .file("prompts/bom.md", "\u{feff}---\r\ndescription: d\r\n---\r\nx")
        .file("prompts/deep.md", deep)
        .file("prompts/bomb.md", bomb)
        .file("prompts/binary.md", b"\0\xFF")
        .file("prompts/large.md", "x".repeat((256 << 10) + 1))
        .file("prompts/open.md", "---\n".to_owned() + &"a: b\n".repeat(30_000))
        .file("prompts/.md", "x")
        .file("prompts/turned\u{202e}.md", "x");
    let mut server = serve(&tree).start();
    assert_eq!(names(&mut server), ["bom", "good"]);
}

#[cfg(unix)]
#[test]
fn links_devices_and_denied_files_are_not_prompts() {
    let tree = Tree::new()
        .file("prompts/good.md", "x")
        .link("prompts/out.md", "../../secret")
        .link("prompts/in.md", "good.md")
        .link("prompts/loop", ".")
        .fifo("prompts/pipe.md")
        .dir("prompts/directory.md")
        .file("prompts/.git/hook.md", "x")
        .file("prompts/private.md", "x")
        .file_bytes_name(b"prompts/\xFF.md", "x");
    let mut server = serve(&tree).deny("private.md").start();
    assert_eq!(names(&mut server), ["good"]);
    for name in ["out", "in", "loop/good", "pipe", "directory", "private", "\u{fffd}"] {
        let error = server.error("prompts/get", json!({"name": name}));
        assert_eq!(error["message"], format!("Unknown prompt: {name}. See prompts/list."));
    }
}

#[cfg(unix)]
#[test]
fn the_folder_may_be_named_through_a_link() {
    let tree = Tree::new().file("real/a.md", "x").link("prompts", "real");
    let mut command = crate::support::command(["--prompts", "prompts"]);
    command.arg(tree.path());
    let mut process = crate::support::Process::start(command);
    assert_eq!(names(&mut process), ["a"]);
}

#[test]
fn the_list_ends_at_a_thousand() {
    let tree = (0..1_010).fold(Tree::new(), |tree, n| tree.file(format!("prompts/{n:04}.md"), "x"));
    let mut server = serve(&tree).limits(|limits| limits.page = 300).start();
    let names = names(&mut server);
    assert_eq!((names.len(), names[999].as_str()), (1_000, "0999"));
}

#[test]
fn it_stops_when_it_is_cancelled() {
    let tree = Tree::new().file("prompts/a.md", "x");
    for (method, params) in [("prompts/list", json!({})), ("prompts/get", json!({"name": "a"}))] {
        let (tell, told) = std::sync::mpsc::channel();
        let builder = serve(&tree).dispatch(move |call, context| {
            context.cancel.cancel();
            let result = mcp_fs::features::dispatch::dispatch(call, context);
            tell.send(format!("{result:?}")).expect("the test waits");
            result
        });
        let mut server = builder.start();
        let id = server.ask_modern(method, params);
        assert_eq!(told.recv_timeout(crate::support::TIMEOUT).as_deref(), Ok("Err(Cancelled)"), "{method}");
        server.notify("notifications/cancelled", json!({"requestId": id}));
    }
}

/// Otherwise a client could write what appears as the user's words.
#[test]
fn clients_that_may_write_cannot_change_prompts() {
    let tree = Tree::new().file("my [prompts]/a.md", "x").dir("notes");
    let mut server = crate::support::TestServer::builder(&tree).prompts("my [prompts]").allow_write().start();
    for path in ["my [prompts]/a.md", "my [prompts]/sub/b.md", "MY [prompts]/a.md"] {
        let error = server.tool_error("write_file", json!({"path": path, "content": "x", "createParents": true}));
        assert!(error.contains("--prompts") || error.contains("parent directory"), "{path}: {error}");
    }
    let moved = json!({"source": "my [prompts]", "destination": "other"});
    assert!(server.tool_error("move_file", moved).contains("--prompts"));
    server.tool_text("write_file", json!({"path": "notes/a.md", "content": "x"}));
    let all = Tree::new().file("a.txt", "x");
    let mut server = crate::support::TestServer::builder(&all).prompts("").allow_write().start();
    assert!(server.tool_error("write_file", json!({"path": "b.md", "content": "x"})).contains("--prompts"));
    server.tool_text("write_file", json!({"path": "b.txt", "content": "x"}));
}
