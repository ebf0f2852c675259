//! What HTTP allows and few clients do, such as chunks, pipelines and unusual forms; and what it forbids.

use serde_json::json;

use super::requests::{Request, modern};
use super::support::HttpServer;
use crate::support::Tree;

fn server() -> HttpServer {
    HttpServer::start(Tree::new().file("a.txt", "one\n"))
}

fn list(id: u64) -> Request {
    modern(id, "tools/list", json!({}))
}

#[test]
fn a_chunked_body_is_read_as_one() {
    let server = server();
    let mut connection = server.connect();
    let (head, body) = (list(1).head(), list(1).bytes());
    let body = &body[body.windows(4).position(|four| four == b"\r\n\r\n").expect("an end of headers") + 4..];
    connection.write([&head[..], b"Transfer-Encoding: chunked\r\n\r\n"].concat());
    for byte in body {
        connection.write(format!("1\r\n{}\r\n", char::from(*byte)));
    }
    connection.write("0\r\n\r\n");
    assert_eq!(connection.reply().status, 200);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = server();
    let mut connection = server.connect();
    connection.write((1..=5).flat_map(|id| list(id).bytes()).collect::<Vec<u8>>());
    for id in 1..=5 {
        assert_eq!(connection.reply().json()["id"], json!(id));
    }
}

#[test]
fn a_request_sent_byte_by_byte_is_read() {
    let server = server();
    let mut connection = server.connect();
    for byte in list(1).bytes() {
        connection.write([byte]);
    }
    assert_eq!(connection.reply().status, 200);
}

#[test]
fn a_length_with_chunks_is_rejected_or_ends_the_connection() {
    let server = server();
    let mut connection = server.connect();
    let smuggled = [
        &list(1).head()[..],
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &Request::new("GET", "/healthz").bytes(),
    ];
    connection.write(smuggled.concat());
    let reply = connection.reply();
    assert_eq!(reply.status, 400, "{reply:?}");
}

#[test]
fn two_lengths_are_rejected() {
    let server = server();
    let mut connection = server.connect();
    connection.write([&list(1).head()[..], b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}"].concat());
    assert_eq!(connection.reply().status, 400);
}

#[test]
fn input_other_than_http_gets_an_error_and_is_closed() {
    let server = server();
    for garbage in [&b"{\"jsonrpc\":\"2.0\"}\n\n"[..], b"\x16\x03\x01\x02\x00", b"GET /mcp HTTP/9.9\r\n\r\n"] {
        let mut connection = server.connect();
        connection.write(garbage);
        connection.end_input();
        let rest = connection.rest();
        assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 4"), "{rest}");
        assert_eq!(server.ask(&list(1)).status, 200, "{garbage:?}");
    }
}

#[test]
fn http_1_0_is_served_and_its_connection_closed() {
    let server = server();
    let mut connection = server.connect();
    let bytes = String::from_utf8(list(1).bytes()).expect("text").replacen("HTTP/1.1", "HTTP/1.0", 1);
    connection.write(bytes);
    assert_eq!(connection.reply().status, 200);
    assert_eq!(connection.rest(), "", "it is closed");
}

#[test]
fn expect_continue_is_answered() {
    let server = server();
    let mut connection = server.connect();
    let bytes = list(1).header("Expect", "100-continue").bytes();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("an end of headers") + 4;
    connection.write(&bytes[..end]);
    assert_eq!(connection.head().status, 100);
    connection.write(&bytes[end..]);
    assert_eq!(connection.reply().status, 200);
}
