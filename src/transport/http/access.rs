//! Access control: the token, and the hosts and origins that a request may name.
//!
//! The token is required on loopback, too: other users of the machine can reach its ports, and so can web pages whose
//! name resolves to 127.0.0.1 (DNS rebinding). The checks of `Host` and `Origin` are a second defence against web
//! pages.

use std::net::{IpAddr, SocketAddr};

use hyper::Uri;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN};
use subtle::ConstantTimeEq as _;

/// Names that always lead to this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Who may use the server.
#[derive(Default)]
pub struct Access {
    /// Required on every request to the endpoint; `None` lets anyone in.
    pub token: Option<String>,
    /// Names of this server in addition to the loopback names, without a port.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests, such as `https://app.example`.
    pub origins: Vec<String>,
}

/// Why a request is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    NoHost,
    Host,
    Origin,
    /// More than one header, or one that is not a bearer token.
    MalformedToken,
    Token,
}

impl Access {
    /// Adds the address that the server listens on, if it is a specific one, to the accepted hosts.
    #[must_use]
    pub(crate) fn at(mut self, address: SocketAddr) -> Self {
        match address.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => self.hosts.push(ip.to_string()),
            IpAddr::V6(ip) => self.hosts.push(format!("[{ip}]")),
        }
        self
    }

    /// Checks which host a request addresses, and which page sent it.
    pub(super) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Denied> {
        let host = only(headers, HOST.as_str()).map_err(|_| Denied::NoHost)?.ok_or(Denied::NoHost)?;
        let host = host.to_str().map_err(|_| Denied::Host)?;
        let authority = uri.authority().map(hyper::http::uri::Authority::as_str);
        if ![Some(host), authority].into_iter().flatten().all(|host| self.is_own(host)) {
            return Err(Denied::Host);
        }
        match only(headers, ORIGIN.as_str()) {
            Ok(None) => Ok(()),
            Ok(Some(origin)) if self.is_allowed(origin, host) => Ok(()),
            _ => Err(Denied::Origin),
        }
    }

    /// Checks the token (RFC 6750, 2.1).
    pub(super) fn check_token(&self, headers: &HeaderMap) -> Result<(), Denied> {
        let Some(token) = &self.token else { return Ok(()) };
        let header = only(headers, AUTHORIZATION.as_str()).map_err(|_| Denied::MalformedToken)?;
        let header = header.ok_or(Denied::Token)?.as_bytes();
        let Some((scheme, given)) = header.split_at_checked("Bearer".len()) else { return Err(Denied::Token) };
        if !scheme.eq_ignore_ascii_case(b"Bearer") {
            return Err(Denied::Token);
        }
        match given.trim_ascii() {
            [] => Err(Denied::MalformedToken),
            _ if given[0] != b' ' => Err(Denied::Token),
            given if bool::from(given.ct_eq(token.as_bytes())) => Ok(()),
            _ => Err(Denied::Token),
        }
    }

    /// Whether a host, with or without a port, is this server.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let own = LOOPBACK.into_iter().chain(self.hosts.iter().map(String::as_str));
        own.into_iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Whether a page of this origin may send requests: it is allowed, or it is this server's own origin.
    fn is_allowed(&self, origin: &HeaderValue, host: &str) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let own = origin.strip_prefix("http://").is_some_and(|rest| rest.eq_ignore_ascii_case(host));
        own || self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

/// The value of a header that may appear once.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(Repeated),
    }
}

/// The header appears more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeated;

/// Without the token, which must not appear in a log.
impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("hosts", &self.hosts).field("origins", &self.origins).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a header's value"));
        }
        headers
    }

    fn host(access: &Access, pairs: &[(&'static str, &str)]) -> Result<(), Denied> {
        access.check_host(&Uri::from_static("/mcp"), &headers(pairs))
    }

    #[test]
    fn only_names_of_this_server_are_its_host() {
        let access = Access { hosts: vec!["files.example".to_owned()], ..Access::default() };
        let access = access.at("192.0.2.1:80".parse().expect("an address"));
        for good in ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]", "[::1]:1", "files.example:443", "192.0.2.1"]
        {
            assert_eq!(host(&access, &[("host", good)]), Ok(()), "{good}");
        }
        for bad in
            ["evil.example", "127.0.0.1.evil.example", "localhost.", "localhost:x", "::1", "", "a@localhost", "0.0.0.0"]
        {
            assert_eq!(host(&access, &[("host", bad)]), Err(Denied::Host), "{bad}");
        }
        assert_eq!(host(&access, &[]), Err(Denied::NoHost));
        assert_eq!(host(&access, &[("host", "localhost"), ("host", "localhost")]), Err(Denied::NoHost));
        let uri = Uri::from_static("http://evil.example/mcp");
        assert_eq!(access.check_host(&uri, &headers(&[("host", "localhost")])), Err(Denied::Host));
    }

    #[test]
    fn a_page_must_be_allowed_or_our_own() {
        let access = Access { origins: vec!["https://app.example".to_owned()], ..Access::default() };
        let origin = |origin| host(&access, &[("host", "localhost:80"), ("origin", origin)]);
        for good in ["https://app.example", "http://localhost:80"] {
            assert_eq!(origin(good), Ok(()), "{good}");
        }
        for bad in ["http://evil.example", "null", "", "https://app.example.evil", "http://localhost:81", "\u{e9}"] {
            assert_eq!(origin(bad), Err(Denied::Origin), "{bad}");
        }
        let twice = [("host", "localhost"), ("origin", "https://app.example"), ("origin", "https://app.example")];
        assert_eq!(host(&access, &twice), Err(Denied::Origin));
    }

    #[test]
    fn the_token_is_asked_for_as_it_is() {
        let access = Access { token: Some("0123456789abcdef".to_owned()), ..Access::default() };
        let token = |value| access.check_token(&headers(&[("authorization", value)]));
        for good in ["Bearer 0123456789abcdef", "bearer  0123456789abcdef "] {
            assert_eq!(token(good), Ok(()), "{good}");
        }
        for bad in
            ["Bearer 0123456789abcdeF", "Bearer 0123456789abcde", "Basic eA==", "Bearer0123456789abcdef", "x", ""]
        {
            assert_eq!(token(bad), Err(Denied::Token), "{bad}");
        }
        assert_eq!(token("Bearer "), Err(Denied::MalformedToken));
        let twice = [("authorization", "Bearer a"), ("authorization", "Bearer 0123456789abcdef")];
        assert_eq!(access.check_token(&headers(&twice)), Err(Denied::MalformedToken));
        assert_eq!(access.check_token(&headers(&[])), Err(Denied::Token));
        assert_eq!(Access::default().check_token(&headers(&[])), Ok(()));
    }
}
