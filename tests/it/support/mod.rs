//! The base of all tests.
//!
//! | module | provides |
//! | --- | --- |
//! | [`tree`] | [`Tree`]: a directory to serve, with a secret beside it |
//! | [`server`] | [`TestServer`]: the server in this process, over in-memory streams |
//! | [`process`] | [`Process`], [`run`]: the real program, over pipes or sockets |
//! | [`client`] | [`Client`]: how to talk to either of them |
//! | [`conversation`] | the rules that every line of theirs must follow |
//! | [`schema`] | the specification's types and JSON Schemas, the strictest of these rules |
//! | `mount` | a file or directory mounted at a second place |
//! | [`gate`] | [`Gate`]: work that waits until the test lets it continue |
//!
//! Tests are plain `#[test]` functions: every wait is limited by [`TIMEOUT`], and nothing sleeps. No assertion is about
//! how long something took: speed is shown by counting work, and where something must not wait for a limit, the test
//! runs with that limit at [`NEVER`].

#![allow(dead_code, reason = "a toolbox: not every tool is in use all the time")]
#![allow(unused_imports, reason = "the same")]

pub(crate) mod client;
pub(crate) mod conversation;
pub(crate) mod gate;
#[cfg(target_os = "linux")]
pub(crate) mod mount;
pub(crate) mod process;
pub(crate) mod schema;
pub(crate) mod server;
pub(crate) mod tree;

use std::time::Duration;

use serde_json::Value;

pub(crate) use self::client::{Client, text_of};
pub(crate) use self::conversation::{LATEST_LEGACY, LEGACY, MODERN};
pub(crate) use self::gate::Gate;
pub(crate) use self::process::{Exit, Process, command, run};
pub(crate) use self::server::TestServer;
pub(crate) use self::tree::{SECRET_MARKER, Tree, file_uri, plain};

/// How long anything may take before its test fails. It only guards against hanging, so it is far beyond what the
/// busiest machine needs: no test may pass or fail because of its speed.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(5);

/// For a limit of the server that must not be reached: a test that runs into it hangs, and [`TIMEOUT`] ends it.
pub(crate) const NEVER: Duration = Duration::from_hours(24);

/// Whether permission bits bind this user. They do not bind root, so tests of them are meaningless there.
#[cfg(unix)]
pub(crate) fn permissions_bind() -> bool {
    !rustix::process::geteuid().is_root()
}

/// The names in a `tools/list` result.
pub(crate) fn names_of(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use serde_json::json;

    use super::*;

    #[test]
    fn every_revision_lists_the_tools() {
        let tree = Tree::new().file("a.txt", "one\n");
        for revision in LEGACY {
            let mut server = TestServer::start(&tree).legacy(revision);
            let answer = server.request("tools/list", json!({}));
            assert!(names_of(&answer["result"]).contains(&"read_text_file"), "{revision}: {answer}");
            server.expect_silence();
        }
        let mut server = TestServer::start(&tree);
        let answer = server.modern("tools/list", json!({}));
        assert!(names_of(&answer["result"]).contains(&"read_text_file"), "{answer}");
        assert!(server.close().is_empty());
    }

    #[test]
    fn injected_work_waits_at_its_gate() {
        let gate = Gate::new();
        let at_gate = gate.clone();
        let tree = Tree::new();
        let server = TestServer::builder(&tree).dispatch(move |call, context| {
            at_gate.pass();
            mcp_fs::features::dispatch::dispatch(call, context)
        });
        let mut server = server.start().legacy(LATEST_LEGACY);
        let id = server.ask("resources/list", json!({}));
        gate.wait_for(1);
        server.expect_silence();
        gate.open();
        assert_eq!(server.answer(id)["result"]["resources"], json!([]));
    }

    #[test]
    fn unread_messages_fail_the_test() {
        let tree = Tree::new();
        let careless = || {
            let mut server = TestServer::start(&tree);
            server.ask("ping", json!({}));
        };
        let failure = catch_unwind(AssertUnwindSafe(careless)).expect_err("an unread answer");
        assert!(failure.downcast_ref::<String>().expect("a message").contains("the test did not read"));
    }

    #[test]
    fn the_real_program_reads_a_file() {
        let tree = Tree::new().file("a.txt", "one\n");
        let mut process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
        assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
        assert_eq!(process.finish(), "");
    }

    #[cfg(unix)]
    #[test]
    fn the_real_program_speaks_over_sockets() {
        let tree = Tree::new();
        let mut process = Process::spawn_on_sockets([tree.path()]);
        assert!(process.tool_error("read_text_file", json!({"path": "../secret"})).contains("outside"));
        process.signal(rustix::process::Signal::TERM);
        let exit = process.wait();
        assert!(!exit.status.success() && exit.rest.is_empty(), "{exit:?}");
    }

    #[test]
    fn the_real_program_runs_once() {
        let output = run(["--version"], "");
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("mcp-fs {}\n", env!("CARGO_PKG_VERSION")));
    }
}
