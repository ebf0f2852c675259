//! The checks of HTTP: whatever a request says, its status is a known one, and only probes succeed without the token,
//! for another host, or for a page of another origin.
//!
//! An input is requests on one connection, separated by lines of `---`: a line with method and target, a line for each
//! header, an empty line, and the body. In the value of a header, `{token}` stands for the token and `{session}` for
//! the last session that began.

#![no_main]

use std::sync::{Arc, LazyLock};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use libfuzzer_sys::fuzz_target;
use mcp_fs::server::Server;
use mcp_fs::transport::http::access::Access;
use mcp_fs::transport::http::service::Service;
use mcp_fs_fuzz::{Scene, limits};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

const TOKEN: &str = "the-token-of-the-fuzzer";
const HOSTS: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "files.example"];
const ALLOWED_ORIGIN: &str = "https://app.example";
const SESSION: &str = "mcp-session-id";

/// More requests in one input add nothing.
const MOST: usize = 6;

static SCENE: LazyLock<Scene> = LazyLock::new(Scene::furnished);

/// Its clock advances by itself when all tasks wait: wrong tokens are answered at once, and silent streams send their
/// comments.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime"));

fuzz_target!(|input: &[u8]| {
    RUNTIME.block_on(async {
        let access = Access {
            token: Some(TOKEN.to_owned()),
            hosts: vec!["files.example".to_owned()],
            origins: vec![ALLOWED_ORIGIN.to_owned()],
        };
        let server = Arc::new(Server::new(SCENE.open(), limits()));
        let service = Service::new(server, access).expect("it is the only connection");
        let mut session = String::new();
        for text in split(input, b"\n---\n").into_iter().take(MOST) {
            let Some(request) = request(text, &session) else { continue };
            let response = answer(&service, &request).await;
            check(&request, &response);
            if let Some(begun) = response.headers().get(SESSION) {
                begun.to_str().expect("visible ASCII").clone_into(&mut session);
            }
        }
    });
});

/// Parses a request in the format of the inputs. `None` if hyper would not accept it.
fn request(text: &[u8], session: &str) -> Option<Request<Bytes>> {
    let (head, body) = cut(text, b"\n\n").unwrap_or((text, b""));
    let mut lines = head.split(|byte| *byte == b'\n');
    let (method, target) = cut(lines.next()?, b" ")?;
    let mut request = Request::new(Bytes::copy_from_slice(body));
    *request.method_mut() = Method::from_bytes(method).ok()?;
    *request.uri_mut() = Uri::try_from(target).ok()?;
    for (name, value) in lines.filter_map(|line| cut(line, b":")) {
        let value = match str::from_utf8(value) {
            Ok(text) => text.replace("{token}", TOKEN).replace("{session}", session).into_bytes(),
            Err(_) => value.to_vec(),
        };
        let value = HeaderValue::from_bytes(value.trim_ascii()).ok()?;
        request.headers_mut().append(HeaderName::from_bytes(name).ok()?, value);
    }
    Some(request)
}

/// The response, with its body up to the first silence.
async fn answer(service: &Service, request: &Request<Bytes>) -> Response<String> {
    let (head, mut body) = service.call(request.clone().map(Full::new)).await.into_parts();
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.unwrap_or_else(|never| match never {}).into_data().expect("no trailers");
        if &frame[..] == b":\n\n" {
            break;
        }
        text.extend_from_slice(&frame);
    }
    assert!(body.size_hint().exact().is_none_or(|left| left == 0), "a length, and a body that is shorter");
    Response::from_parts(head, String::from_utf8(text).expect("UTF-8"))
}

fn check(request: &Request<Bytes>, response: &Response<String>) {
    let (status, headers, text) = (response.status(), response.headers(), response.body().as_str());
    let known = [200, 202, 204, 400, 401, 403, 404, 405, 406, 413, 415, 503];
    assert!(known.contains(&status.as_u16()), "{status}: {request:?}");
    let is_probe = ["/healthz", "/readyz"].contains(&request.uri().path());
    if status.is_success() {
        let may_succeed = if is_probe { request.method() == Method::GET } else { is_let_in(request) };
        assert!(may_succeed, "{status}: {request:?}");
    } else if !is_probe {
        let error: Value = serde_json::from_str(text).expect("JSON");
        assert!(error.get("error").is_some(), "{status} without its reason: {text}");
    }
    assert_eq!(headers.get(CACHE_CONTROL).map(HeaderValue::as_bytes), Some(&b"no-store"[..]));
    assert_eq!(headers.contains_key(WWW_AUTHENTICATE), status == StatusCode::UNAUTHORIZED);
    assert_eq!(headers.contains_key(ALLOW), status == StatusCode::METHOD_NOT_ALLOWED);
    assert!(!headers.keys().any(|name| name.as_str().starts_with("access-control")), "{headers:?}");
    assert!(!headers.contains_key(SESSION) || !request.headers().contains_key(SESSION), "a session within a session");
    if headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
        check_events(text);
    }
    let asked = asked(request);
    SCENE.assert_nothing_outside(text, &asked);
    assert!(!text.contains(TOKEN) || asked.contains(TOKEN), "it says the token: {text}");
}

/// Whether a request other than a probe is for the endpoint and has everything it needs.
fn is_let_in(request: &Request<Bytes>) -> bool {
    let headers = request.headers();
    let one = |name: HeaderName| {
        let values: Vec<_> = headers.get_all(name).iter().collect();
        (values.len() == 1).then(|| String::from_utf8_lossy(values[0].as_bytes()).into_owned())
    };
    let shows_token = one(AUTHORIZATION).is_some_and(|value| {
        let (scheme, token) = value.split_once(' ').unwrap_or_default();
        scheme.eq_ignore_ascii_case("bearer") && token.trim() == TOKEN
    });
    let Some(host) = one(HOST) else { return false };
    let is_own_page = |origin: String| {
        origin.eq_ignore_ascii_case(ALLOWED_ORIGIN) || origin.eq_ignore_ascii_case(&format!("http://{host}"))
    };
    let is_own_target = request.uri().authority().is_none_or(|authority| is_own(authority.as_str()));
    request.uri().path() == "/mcp"
        && [Method::POST, Method::GET, Method::DELETE].contains(request.method())
        && shows_token
        && is_own(&host)
        && is_own_target
        && (!headers.contains_key(ORIGIN) || one(ORIGIN).is_some_and(is_own_page))
        && (request.method() != Method::POST || one(CONTENT_TYPE).is_some_and(|kind| is_json(&kind)))
}

fn is_own(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let port = |rest: &str| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_digits);
    HOSTS.iter().any(|own| host.strip_prefix(own).is_some_and(port))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_json(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind.strip_prefix("application/json").is_some_and(|rest| rest.trim_start().is_empty() || rest.contains(';'))
}

/// Every event is one message.
fn check_events(text: &str) {
    for event in text.split_terminator("\n\n") {
        let data = event.strip_prefix("event: message\ndata: ").unwrap_or_else(|| panic!("no message: {event:?}"));
        let message: Value = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
    }
}

/// What a response may repeat: everything except the token in its header.
fn asked(request: &Request<Bytes>) -> String {
    let shown = |headers: &HeaderMap| {
        let others = headers.iter().filter(|(name, _)| *name != AUTHORIZATION);
        others.map(|(_, value)| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect::<String>()
    };
    format!("{}{}{}", request.uri(), shown(request.headers()), String::from_utf8_lossy(request.body()))
}

fn split<'t>(mut text: &'t [u8], separator: &[u8]) -> Vec<&'t [u8]> {
    let mut parts = Vec::new();
    while let Some((part, rest)) = cut(text, separator) {
        parts.push(part);
        text = rest;
    }
    parts.push(text);
    parts
}

fn cut<'t>(text: &'t [u8], separator: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let at = text.windows(separator.len()).position(|window| window == separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}
