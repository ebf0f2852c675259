//! Access control: the checks before a message is read.

use serde_json::json;

use super::requests::{Request, initialize, modern, post, request};
use super::support::HttpServer;
use crate::support::Tree;

fn server() -> HttpServer {
    HttpServer::start(Tree::new().file("a.txt", "one\n"))
}

fn list() -> Request {
    modern(1, "tools/list", json!({}))
}

#[test]
fn ht1_ht2_other_paths_are_not_found_with_a_json_error() {
    let server = server();
    for path in ["/other", "/", "/mcp/", "/sse", "/.well-known/oauth-authorization-server", "/register"] {
        let reply = server.ask(&Request::new("POST", path).without("Authorization").body("{}"));
        assert_eq!((reply.status, reply.header("content-type")), (404, Some("application/json")), "{path}");
        assert!(reply.json()["error_description"].as_str().is_some_and(|text| text.contains("Bearer")), "{path}");
    }
}

#[test]
fn ht3_ht4_ht6_an_origin_that_is_not_allowed_is_forbidden() {
    let server = HttpServer::with(Tree::new(), &["--allow-origin", "https://app.example"]);
    for origin in ["http://evil.example", "null", "", "::", "https://app.example.evil", "https://app.example/"] {
        let reply = server.ask(&list().header("Origin", origin));
        assert_eq!(reply.status, 403, "{origin:?}");
        assert!(reply.json().get("id").is_none());
    }
    assert_eq!(server.ask(&list().header("Origin", b"\xFF")).status, 403);
    let twice = list().and("Origin", "https://app.example").and("Origin", "https://app.example");
    assert_eq!(server.ask(&twice).status, 403);
    for origin in ["https://app.example", "http://localhost"] {
        assert_eq!(server.ask(&list().header("Origin", origin)).status, 200, "{origin}");
    }
}

#[test]
fn ht5_programs_send_no_origin() {
    assert_eq!(server().ask(&list()).status, 200);
}

#[test]
fn ht7_the_host_must_be_this_server() {
    let server = HttpServer::with(Tree::new(), &["--allow-host", "files.example"]);
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:80", "files.example:443"] {
        assert_eq!(server.ask(&list().header("Host", host)).status, 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "user@localhost"] {
        assert_eq!(server.ask(&list().header("Host", host)).status, 403, "{host}");
    }
    assert_eq!(server.ask(&list().without("Host")).status, 400);
    let absolute = |target| Request::new("POST", target).header("Accept", "*/*").body("{}");
    assert_eq!(server.ask(&absolute("http://evil.example/mcp")).status, 403);
    assert_eq!(server.ask(&absolute("http://localhost/mcp")).status, 400, "it comes to the message");
}

#[test]
fn ht9_ht161_ht162_every_request_needs_the_token() {
    let server = server();
    for request in [
        list().without("Authorization"),
        list().header("Authorization", "Bearer wrong-wrong-wrong"),
        list().header("Authorization", "Basic eDp5"),
        Request::new("POST", "/mcp?access_token=the-token-of-the-tests").without("Authorization").body("{}"),
        Request::new("GET", "/mcp").without("Authorization"),
        Request::new("DELETE", "/mcp").without("Authorization"),
        Request::new("PUT", "/mcp").without("Authorization"),
    ] {
        let reply = server.ask(&request);
        assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{request:?}");
    }
    assert_eq!(server.ask(&list().header("Authorization", "Bearer")).status, 400);
    assert_eq!(server.ask(&list().header("Authorization", "bearer the-token-of-the-tests")).status, 200);
}

#[test]
fn ht163_with_the_token_a_lost_session_is_not_found_and_without_it_unauthorized() {
    let server = server();
    let session = server.session("2025-11-25");
    let ping = |session: &str| post(&request(2, "ping", json!({}))).session(session);
    assert_eq!(server.ask(&ping("gone")).status, 404);
    assert_eq!(server.ask(&ping(&session).header("Authorization", "Bearer another-token-of-tests")).status, 401);
    assert_eq!(server.ask(&ping(&session)).status, 200, "it lives on");
}

#[test]
fn ht10_the_content_type_must_be_json() {
    let server = server();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
        assert_eq!(server.ask(&list().header("Content-Type", kind)).status, 415, "{kind}");
    }
    assert_eq!(server.ask(&list().without("Content-Type")).status, 415);
    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        assert_eq!(server.ask(&list().header("Content-Type", kind)).status, 200, "{kind}");
    }
}

#[test]
fn ht11_ht17_other_methods_are_rejected_with_an_allow_header() {
    let server = server();
    for method in ["OPTIONS", "PUT", "PATCH", "HEAD"] {
        let mut connection = server.connect();
        connection.send(&Request::new(method, "/mcp"));
        let reply = connection.head();
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST, GET, DELETE")), "{method}");
    }
}

#[test]
fn ht12_the_answer_has_an_accepted_type() {
    let server = server();
    let kind = |accept: &str| {
        let reply = server.ask(&list().header("Accept", accept));
        (reply.status, reply.is_stream())
    };
    for accept in ["text/event-stream, application/json", "application/json;q=0.1", "*/*", "application/*"] {
        assert_eq!(kind(accept), (200, false), "{accept}");
    }
    assert_eq!(kind("text/event-stream"), (200, true));
    assert_eq!(kind("text/html").0, 406);
    assert_eq!(server.ask(&list().without("Accept")).status, 200);
}

#[test]
fn ht13_a_body_over_the_limit_is_rejected_before_it_is_kept() {
    let server = server();
    let mut announced = server.connect();
    let head = list().head();
    announced.write([&head[..], b"Content-Length: 67108864\r\n\r\n"].concat());
    assert_eq!(announced.reply().status, 413);
    let mut chunked = server.connect();
    chunked.write([&head[..], b"Transfer-Encoding: chunked\r\n\r\n"].concat());
    let chunk = [format!("{:x}\r\n", 1 << 20).as_bytes(), &vec![b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..33 {
        chunked.write(&chunk);
    }
    assert_eq!(chunked.reply().status, 413);
}

#[test]
fn ht13_headers_are_bounded() {
    let reply = server().ask(&list().header("X-Long", "x".repeat(1_000_000)));
    assert_eq!(reply.status, 431);
}

#[test]
fn ht14_ht15_ht16_an_invalid_message_is_a_bad_request_without_an_id() {
    let server = server();
    let post = |body: &[u8]| server.ask(&initialize("2025-11-25").body(body));
    for (body, code) in [
        (&b"{"[..], -32_700),
        (b"\xFF", -32_700),
        (b"", -32_700),
        (b"5", -32_600),
        (b"{\"id\":null,\"method\":\"ping\",\"jsonrpc\":\"2.0\"}", -32_600),
    ] {
        let reply = post(body);
        assert_eq!((reply.status, reply.code()), (400, code), "{body:?}");
        assert!(reply.json().get("id").is_none(), "{reply:?}");
    }
    let reply = post(b"{\"id\":1}");
    assert_eq!((reply.status, reply.code(), &reply.json()["id"]), (400, -32_600, &json!(1)));
}

#[test]
fn ht165_ht168_there_is_no_oauth_and_the_answer_says_where_the_token_goes() {
    let server = server();
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/openid-configuration"] {
        let reply = server.ask(&Request::new("GET", path).without("Authorization"));
        assert_eq!(reply.status, 404);
        assert!(reply.json()["error_description"].as_str().expect("text").contains("Authorization: Bearer TOKEN"));
    }
}

#[test]
fn probes_need_neither_token_nor_host_and_reveal_nothing_else() {
    let server = server();
    for path in ["/healthz", "/readyz"] {
        let reply = server.ask(&Request::new("GET", path).without("Authorization").without("Host"));
        assert_eq!((reply.status, reply.body.as_slice()), (200, &b"{\"status\":\"ok\"}"[..]), "{path}");
        let reply = server.ask(&Request::new("POST", path));
        assert_eq!((reply.status, reply.header("allow")), (405, Some("GET")), "{path}");
    }
    std::fs::rename(server.tree.path(), server.tree.path().with_extension("away")).expect("it moves");
    let ready = server.ask(&Request::new("GET", "/readyz")).status;
    let alive = server.ask(&Request::new("GET", "/healthz")).status;
    std::fs::rename(server.tree.path().with_extension("away"), server.tree.path()).expect("it moves");
    assert_eq!((ready, alive), (503, 200));
}

#[test]
fn the_log_has_one_line_per_request_without_token_or_content() {
    let server = server();
    let call = json!({"name": "read_text_file", "arguments": {"path": "a.txt"}});
    server.ask(&modern(1, "tools/call", call));
    let line = server.line_with("POST /mcp");
    assert!(line.contains("tools/call read_text_file: 200 after "), "{line}");
    assert!(!line.contains("the-token") && !line.contains("one"), "{line}");
}
