//! Completion leads nowhere outside: for each way out, as it is, partially typed and as a directory, the completions
//! are the same whatever is at its end, and all of them are names in the served directory.

use serde_json::Value;

use super::attempts::{LEADS_OUTSIDE, OTHERS};
use super::escapes::{Target, spelled, tree};
use super::keeps_the_host_private;
use crate::resources::completion::asking;
use crate::support::{Client, TestServer, Tree};

/// The entries of [`tree`] that can be read, and are therefore offered.
const INSIDE: [&str; 4] = ["inner/", "inside.txt", "leaf.txt", "to-inner/"];

fn completion(server: &mut TestServer, tree: &Tree, typed: &str) -> Value {
    let completion = server.result("completion/complete", asking(tree, typed))["completion"].take();
    keeps_the_host_private(tree, &completion.to_string(), typed);
    completion
}

#[test]
fn completing_never_leads_out() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let spellings = LEADS_OUTSIDE.iter().chain(OTHERS.iter().map(|(spelling, ..)| spelling));
    let spellings = spellings.flat_map(|spelling| {
        let whole = spelled(&tree, spelling);
        let begun = whole.trim_end_matches(|c| c != '/').to_owned();
        [whole.clone() + "/", whole, begun.clone() + "s", begun]
    });
    let spellings: Vec<String> = spellings.collect();
    let mut answers = |target: Target| -> Vec<Value> {
        target.set(tree.outside());
        spellings.iter().map(|typed| completion(&mut server, &tree, typed)).collect()
    };
    let present = answers(Target::Present);
    for (typed, completion) in spellings.iter().zip(&present) {
        for value in completion["values"].as_array().expect("values") {
            let value = value.as_str().expect("a string");
            assert!(INSIDE.iter().any(|name| value.ends_with(name)), "{typed} leads to {value}");
        }
    }
    for target in [Target::Absent, Target::Exchanged, Target::Fifo] {
        for ((typed, completion), other) in spellings.iter().zip(&present).zip(answers(target)) {
            assert_eq!(*completion, other, "{typed} shows {target:?}");
        }
    }
}
