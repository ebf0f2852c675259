//! Work that does not return: it gets an error, it loses its slot while there is room for that, and the requests behind
//! it are told. Real file systems that do not respond are in [`crate::slow`].

use std::time::{Duration, Instant};

use serde_json::json;

use super::{builder, said, wait_params};
use crate::support::{Client as _, Gate, LATEST_LEGACY, TIMEOUT, TestServer, Tree};

const NO_ANSWER: &str = "The file system did not respond";

/// A server with `places` slots, which may leave `left_behind` threads behind.
fn server(tree: &Tree, gate: &Gate, places: usize, left_behind: usize) -> TestServer {
    let builder = builder(tree, gate).limits(|limits| {
        limits.io_time = Duration::from_millis(50);
        (limits.in_flight, limits.left_behind) = (places, left_behind);
    });
    builder.start().legacy(LATEST_LEGACY)
}

/// A call that needs a thread, repeated until there is one.
fn until_it_works(server: &mut TestServer) {
    let begun = Instant::now();
    while server.tool("list_directory", json!({}))["isError"] == true {
        assert!(begun.elapsed() < TIMEOUT, "it never works again");
    }
}

#[test]
fn a_stuck_request_is_answered_once_and_frees_its_slot() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = server(&tree, &gate, 1, 1);
    let stuck = server.ask("tools/call", wait_params("late"));
    gate.wait_for(1);
    assert!(said(&server.answer(stuck)).starts_with(NO_ANSWER));
    // Nothing is sent when it does return.
    gate.open();
    until_it_works(&mut server);
    assert!(server.close().is_empty());
}

#[test]
fn if_all_threads_are_stuck_waiting_requests_fail() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = server(&tree, &gate, 1, 0);
    let ids: Vec<_> = (0..3).map(|_| server.ask("tools/call", wait_params("late"))).collect();
    gate.wait_for(1);
    for id in ids {
        assert!(said(&server.answer(id)).starts_with(NO_ANSWER));
    }
    let next = server.ask("tools/call", wait_params("late"));
    assert!(said(&server.answer(next)).starts_with(NO_ANSWER));
    assert_eq!(gate.arrived(), 1, "they are not even begun");
    gate.open();
    until_it_works(&mut server);
}

#[test]
fn a_returning_thread_allows_another_to_be_left_behind() {
    let (tree, first, second) = (Tree::new(), Gate::new(), Gate::new());
    let builder = crate::support::TestServer::builder(&tree).dispatch({
        let (first, second) = (first.clone(), second.clone());
        move |call, context| super::work(call, context, if first.arrived() == 0 { &first } else { &second })
    });
    let mut server = builder
        .limits(|limits| {
            limits.io_time = Duration::from_millis(50);
            (limits.in_flight, limits.left_behind) = (1, 1);
        })
        .start()
        .legacy(LATEST_LEGACY);
    let left_behind = server.ask("tools/call", wait_params("late"));
    first.wait_for(1);
    assert!(said(&server.answer(left_behind)).starts_with(NO_ANSWER));
    let in_its_place = server.ask("tools/call", wait_params("late"));
    second.wait_for(1);
    assert!(said(&server.answer(in_its_place)).starts_with(NO_ANSWER));
    first.open();
    // The second is still stuck, and has lost its slot.
    until_it_works(&mut server);
    second.open();
}
