//! The tables of limits match the constants of the program.

use std::time::Duration;

use mcp_fs::jsonrpc::message::LONGEST_ID;
use mcp_fs::limits::{LONGEST_URI, Limits};

use super::{page, rows, source};

/// In the format of the pages.
fn size(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes >> 10),
    }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let (head, tail) = digits.split_at(digits.len().saturating_sub(3));
    if head.is_empty() { tail.to_owned() } else { format!("{head},{tail}") }
}

/// A constant that is private to its module.
fn constant(file: &str, name: &str) -> String {
    let (source, start) = (source(file), format!("const {name}: "));
    let line = source.lines().find_map(|line| line.split_once(&start)).unwrap_or_else(|| panic!("{file}: no {name}"));
    line.1.split_once(" = ").and_then(|it| it.1.strip_suffix(';')).expect("a value").to_owned()
}

fn number(file: &str, name: &str) -> usize {
    let value = constant(file, name).replace('_', "");
    let (base, shift) = value.split_once(" << ").unwrap_or((&value, "0"));
    base.parse::<usize>().expect("a number") << shift.parse::<u32>().expect("a shift")
}

fn time(file: &str, name: &str) -> Duration {
    let value = constant(file, name);
    let (unit, count) = value.strip_prefix("Duration::from_").and_then(|it| it.split_once('(')).expect("a duration");
    let count = count.trim_end_matches(')').parse().expect("a number");
    match unit {
        "secs" => Duration::from_secs(count),
        "mins" => Duration::from_mins(count),
        _ => panic!("{file}: {name} is in {unit}"),
    }
}

fn minutes(time: Duration) -> String {
    match time.as_secs() / 60 {
        1 => "1 minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

fn compare(page_name: &str, expected: &[(&str, String)]) {
    let page = page(page_name);
    let (_, tables) = page.split_once("\n## Limits").expect("the limits");
    let documented: Vec<_> = rows(tables, "what").iter().map(|row| (row[0].to_owned(), row[1].to_owned())).collect();
    let expected: Vec<_> = expected.iter().map(|(what, limit)| ((*what).to_owned(), limit.clone())).collect();
    assert_eq!(documented, expected, "{page_name}, and the constants of the program");
}

#[test]
fn limits_without_an_option_match_the_program() {
    let limits = Limits::default();
    let held = size(limits.held_bytes);
    compare(
        "docs/reference.md",
        &[
            ("an id or a progress token", size(LONGEST_ID)),
            ("a URI", size(LONGEST_URI)),
            ("one message", size(limits.line_bytes)),
            ("messages in a batch", limits.batch.to_string()),
            ("requests waiting", format!("{} or {}", grouped(limits.queued), size(limits.queued_bytes))),
            (
                "everything held for one client: waiting requests, incomplete batches, unread answers, subscriptions",
                held,
            ),
            ("subscriptions", format!("{}, and a quarter of the memory above", grouped(limits.watch.followed))),
            ("open streams of a client", limits.watch.streams.to_string()),
            ("entries in one recursive copy, move or delete", grouped(number("root/write/tree.rs", "MOST"))),
            ("a file that `edit_file` changes", size(number("features/edit/mod.rs", "MOST"))),
        ],
    );
}

#[test]
fn limits_of_http_match_the_program() {
    let most = number("main.rs", "MOST_CONNECTIONS");
    let sessions = number("transport/http/sessions.rs", "MOST");
    let idle = minutes(time("transport/http/sessions.rs", "IDLE"));
    let body = size(Limits::default().line_bytes);
    let whole = minutes(time("transport/http/body.rs", "WHOLE"));
    compare(
        "docs/http.md",
        &[
            ("connections", format!("{}, or half of the process's file descriptors", grouped(most))),
            ("sessions", format!("{}; an idle session ends after {idle}", grouped(sessions))),
            ("requests of one client processed at once", number("main.rs", "IN_FLIGHT_OF_ONE").to_string()),
            ("a request body", format!("{body}, within {whole}")),
            (
                "headers of a request",
                format!("{} seconds to send them", time("transport/http/mod.rs", "IDLE").as_secs()),
            ),
            ("a response that the client does not read", minutes(time("transport/http/mod.rs", "STALL"))),
        ],
    );
}
