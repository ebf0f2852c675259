//! Subscriptions lead nowhere outside either: every way out is rejected, or left out of a stream, with the same words
//! whatever is at its end; and nothing that happens there is ever reported.

use std::fs;

use serde_json::{Value, json};

use super::attempts::{LEADS_OUTSIDE, OTHERS, Want};
use super::escapes::{Target, spelled, tree};
use super::keeps_the_host_private;
use crate::live::Live;

/// Ordinary names may be followed before they exist; only these are acknowledged.
#[test]
fn a_stream_never_leads_out() {
    let mut live = Live::quick(tree());
    let others = OTHERS.iter().filter(|(.., resource)| *resource != Want::Missing).map(|(spelling, ..)| spelling);
    let uris: Vec<String> = LEADS_OUTSIDE.iter().chain(others).map(|spelling| spelled(&live.tree, spelling)).collect();
    let missing: Vec<&(&str, Want, Want)> = OTHERS.iter().filter(|(.., resource)| *resource == Want::Missing).collect();
    let missing: Vec<String> = missing.iter().map(|(spelling, ..)| spelled(&live.tree, spelling)).collect();
    let mut acknowledged: Vec<Value> = Vec::new();
    for (id, target) in [Target::Present, Target::Absent, Target::Exchanged, Target::Fifo].into_iter().enumerate() {
        target.set(live.tree.outside());
        assert_eq!(live.listen(id, json!({"resourceSubscriptions": uris})), json!({}), "{target:?}");
        acknowledged.push(live.listen(id + 10, json!({"resourceSubscriptions": missing})));
        for uri in acknowledged[id]["resourceSubscriptions"].as_array().into_iter().flatten() {
            keeps_the_host_private(&live.tree, uri.as_str().expect("a string"), "");
        }
    }
    assert!(acknowledged.iter().all(|other| *other == acknowledged[0]), "{acknowledged:#?}");
    // Whatever appears and disappears there is not reported.
    for target in [Target::Present, Target::Absent, Target::Exchanged] {
        target.set(live.tree.outside());
        live.nothing_else();
    }
}

/// The directory that contains it is moved out of the served one, with everything in it.
#[test]
fn a_file_that_has_moved_outside_is_no_longer_followed() {
    let mut live = Live::quick(crate::support::Tree::new().file("sub/deep/a.txt", "one\n"));
    live.listen_to("s", "sub/deep/a.txt");
    live.listen_to_list("list");
    let outside = live.tree.outside().join("sub");
    fs::rename(live.tree.join("sub"), &outside).unwrap();
    assert_eq!(live.all_news(2), ["\"list\" list_changed", "\"s\" updated sub/deep/a.txt"]);
    live.nothing_else();
    fs::write(outside.join("deep/a.txt"), "written outside\n").unwrap();
    fs::write(outside.join("deep/new.txt"), "made outside\n").unwrap();
    live.nothing_else();
    fs::rename(&outside, live.tree.join("sub")).unwrap();
    assert_eq!(live.all_news(2), ["\"list\" list_changed", "\"s\" updated sub/deep/a.txt"]);
    live.nothing_else();
}
