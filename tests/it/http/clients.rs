//! Many clients at once: one that floods, stalls or is slow delays no other.

use serde_json::json;

use super::requests::{get, modern, post, request};
use super::support::HttpServer;
use crate::support::Tree;

fn read(id: u64) -> super::requests::Request {
    modern(id, "tools/call", json!({"name": "read_text_file", "arguments": {"path": "a.txt"}}))
}

#[test]
fn ht171_an_unread_stream_does_not_block_other_clients() {
    let server = HttpServer::start(Tree::new().file("a.txt", "one\n"));
    let session = server.session("2025-11-25");
    let uri = server.tree.uri("a.txt");
    server.ask(&post(&request(5, "resources/subscribe", json!({"uri": uri}))).session(&session));
    let mut unread = server.connect();
    unread.send(&get(&session));
    unread.head();
    for n in 0..200 {
        std::fs::write(server.tree.join("a.txt"), n.to_string()).expect("it is written");
    }
    assert_eq!(server.ask(&read(1)).status, 200);
    assert_eq!(server.ask(&post(&request(6, "ping", json!({}))).session(&session)).status, 200);
}

#[test]
fn stalled_uploads_do_not_block_other_clients() {
    let server = HttpServer::start(Tree::new().file("a.txt", "one\n"));
    let mut slow: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for connection in &mut slow {
        connection.write([&read(1).head()[..], b"Content-Length: 1000\r\n\r\n{"].concat());
    }
    assert_eq!(server.ask(&read(1)).status, 200);
}

#[test]
fn one_busy_client_leaves_room_for_others() {
    let server = HttpServer::start(super::support::wide_tree().file("a.txt", "one\n"));
    let session = server.session("2025-11-25");
    let slow = json!({"name": "search_text", "arguments": {"query": "(x+x+)+y", "regex": true}});
    let mut flood: Vec<_> = (0..64).map(|_| server.connect()).collect();
    for (id, connection) in (100_u64..).zip(&mut flood) {
        connection.send(&post(&request(id, "tools/call", slow.clone())).session(&session));
    }
    server.line_with("163 tools/call");
    for id in 0..20 {
        assert_eq!(server.ask(&read(id)).status, 200);
    }
    let directory = json!({"name": "directory_tree", "arguments": {}});
    assert_eq!(server.ask(&modern(1, "tools/call", directory)).status, 200);
}

#[test]
fn the_same_ids_in_both_eras_do_not_conflict() {
    let server = HttpServer::start(Tree::new().file("a.txt", "one\n"));
    let [first, second] = [server.session("2025-11-25"), server.session("2025-03-26")];
    let list = || request(1, "tools/list", json!({}));
    let mut connections: Vec<_> = (0..9).map(|_| server.connect()).collect();
    for (n, connection) in connections.iter_mut().enumerate() {
        match n % 3 {
            0 => connection.send(&read(1)),
            1 => connection.send(&post(&list()).session(&first)),
            _ => connection.send(&post(&list()).session(&second)),
        }
        // One at a time within a session: the same id twice at once is an error there.
        let reply = connection.reply();
        assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(1)));
    }
}
