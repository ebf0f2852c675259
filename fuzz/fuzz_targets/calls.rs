//! Calls of the tools that read, and of resources: whatever the arguments, they end, reveal nothing outside, stay
//! within their limits, and give the same answer each time.
//!
//! An input is a call in the format of [`mcp_fs_fuzz::tool_call`], or `read URI`, `list CURSOR` or `complete VALUE`.
//! `{root}` stands for the path of the served directory, `{around}` for that of its parent.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use mcp_fs::call::{Block, Call, Contents, Continuation, Data, Failure, Outcome};
use mcp_fs::features::dispatch::dispatch;
use mcp_fs::services::Services;
use mcp_fs_fuzz::{Scene, context, said, tool_call};

/// How many bytes an answer may have beyond its limit: notes, and quoted arguments.
const SLACK: usize = 4_000;

static SCENE: LazyLock<(Scene, Arc<Services>)> = LazyLock::new(|| {
    let scene = Scene::furnished();
    let services = scene.services(false);
    (scene, services)
});

fuzz_target!(|text: &str| {
    let asked = SCENE.0.spelled(text);
    match asked.split_once(' ') {
        Some(("read", uri)) => read(uri),
        Some(("list", cursor)) => list(cursor),
        Some(("complete", value)) => complete(value),
        _ => call(&asked),
    }
});

fn ask(call: &Call, asked: &str) -> Result<Outcome, Failure> {
    let outcome = dispatch(call, &context(&SCENE.1));
    if let Err(failure) = &outcome {
        assert!(!matches!(failure, Failure::Cancelled), "nobody said so: {failure:?}");
        SCENE.0.assert_nothing_outside(&format!("{failure:?}"), asked);
    }
    outcome
}

fn call(asked: &str) {
    let tool = |call| match ask(call, asked) {
        Ok(Outcome::Tool(result)) => Some(result),
        Ok(other) => panic!("no tool gives this: {other:?}"),
        Err(Failure::UnknownTool(_)) => None,
        Err(failure) => panic!("a tool's failure is its answer: {failure:?}"),
    };
    let call = tool_call(asked);
    let (Some(first), Some(second)) = (tool(&call), tool(&call)) else { return };
    let (text, limit) = (said(&first), SCENE.1.limits.output_bytes);
    assert_eq!(text, said(&second), "it says something else the second time");
    SCENE.0.assert_nothing_outside(&text, asked);
    let has_media = first.content.iter().any(|block| !matches!(block, Block::Text(_)));
    assert!(!text.is_empty() || !first.is_error, "it does not say what is wrong");
    assert!(has_media || text.len() <= limit + SLACK, "{} bytes", text.len());
}

/// A resource, and all its parts.
fn read(asked: &str) {
    let (mut uri, mut at) = (asked.to_owned(), None);
    loop {
        let Ok(Outcome::Contents(contents)) = ask(&Call::ReadResource { uri: uri.clone() }, asked) else {
            assert!(at.is_none(), "a part that was announced is not there: {uri}");
            return;
        };
        assert!(SCENE.1.root.locate_uri(&contents.uri).is_ok(), "{uri} was asked, {} given", contents.uri);
        is_bounded(&contents, asked);
        let Some(Continuation::Next { from, to, total, next }) = contents.continues else { return };
        assert!(from <= to && to <= total, "{from} to {to} of {total}");
        assert!(at.is_none_or(|at| at == from && to > at), "{at:?}, then {from} to {to}");
        (uri, at) = (next, Some(to));
    }
}

fn is_bounded(contents: &Contents, asked: &str) {
    let limits = &SCENE.1.limits;
    match &contents.data {
        Data::Text(text) => {
            SCENE.0.assert_nothing_outside(text.as_str(), asked);
            assert!(text.len() <= limits.resource_bytes + SLACK, "{} bytes", text.len());
        }
        Data::Blob(bytes) => assert!(bytes.len() <= limits.blob_bytes, "{} bytes", bytes.len()),
    }
}

/// The list from a cursor to its end.
fn list(asked: &str) {
    let mut cursor = Some(asked.to_owned()).filter(|cursor| !cursor.is_empty());
    let mut pages = 0;
    while let Ok(Outcome::Resources(page)) = ask(&Call::ListResources { cursor: cursor.take() }, asked) {
        pages += 1;
        assert!(page.resources.len() <= SCENE.1.limits.page && pages <= 20, "the list has no end");
        for resource in &page.resources {
            SCENE.0.assert_nothing_outside(&resource.uri, asked);
            let read = ask(&Call::ReadResource { uri: resource.uri.clone() }, asked);
            assert!(!matches!(read, Err(Failure::BadUri { .. } | Failure::ResourceNotFound { .. })), "{resource:?}");
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return;
        }
    }
    assert_eq!(pages, 0, "a cursor that was given out is not taken");
}

fn complete(value: &str) {
    let Ok(Outcome::ResourceTemplates(templates)) = ask(&Call::ListResourceTemplates, value) else {
        panic!("the templates are always there")
    };
    let template = templates[0].uri_template.clone();
    let call = Call::Complete { template, argument: "path".to_owned(), value: value.to_owned() };
    let Ok(Outcome::Completion(completion)) = ask(&call, value) else { return };
    assert!(completion.values.len() <= 100 && completion.total >= completion.values.len());
    completion.values.iter().for_each(|given| SCENE.0.assert_nothing_outside(given, value));
}
