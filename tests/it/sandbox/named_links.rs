//! A link named by a pattern is swapped for one that leads outside, and its target is moved out: neither search finds
//! anything from outside.

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;

use super::race::{OUTSIDE_NAME, Stage, exchange, while_swapping};
use crate::support::{Client as _, TestServer};

#[test]
fn a_named_link_that_is_swapped_leads_nowhere_outside() {
    let stage = Stage::new();
    let (root, outside) = (stage.tree.path(), stage.tree.outside());
    std::os::unix::fs::symlink("still", root.join("l")).expect("a link");
    std::os::unix::fs::symlink("moving/deep", root.join("m")).expect("a link");
    std::os::unix::fs::symlink(outside.join("other"), outside.join("partner-link")).expect("a link");
    fs::write(root.join("still/more.txt"), "inside\n").expect("a file");
    let mut server = TestServer::start(&stage.tree);
    let swap_link = || exchange(&root.join("l"), &outside.join("partner-link"));
    let until = Instant::now() + Duration::from_secs(2);
    let found = Mutex::new(0_u64);
    let ((), counts) = while_swapping(&[&swap_link, &|| stage.move_out_and_back()], || {
        while Instant::now() < until {
            for (tool, arguments) in [
                ("search_files", json!({"pattern": "l/**"})),
                ("search_files", json!({"pattern": "m/*"})),
                ("search_files", json!({"pattern": "*", "path": "l"})),
                ("search_text", json!({"query": "i", "glob": "l"})),
                ("search_text", json!({"query": "i", "glob": "m/**"})),
                ("search_text", json!({"query": "i", "path": "m"})),
            ] {
                // The harness checks that no secret is sent.
                let answer = server.tool(tool, arguments).to_string();
                assert!(!answer.contains(OUTSIDE_NAME), "{tool}: {answer}");
                *found.lock().expect("not poisoned") += u64::from(answer.contains("inside.txt"));
            }
        }
    });
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}: nothing was swapped");
    assert!(*found.lock().expect("not poisoned") > 0, "nothing was ever found");
}
