//! What `resources/read` cannot return, and the error code for it in both eras.

use serde_json::{Value, json};

use crate::support::{Client, LATEST_LEGACY, LEGACY, TestServer, Tree};

/// The errors for one URI, in the legacy era and in the modern one.
fn errors(tree: &Tree, uri: &str) -> [Value; 2] {
    let legacy = TestServer::start(tree).legacy(LATEST_LEGACY).error("resources/read", json!({"uri": uri}));
    [legacy, TestServer::start(tree).error("resources/read", json!({"uri": uri}))]
}

#[test]
fn a_missing_resource_gets_the_code_of_each_era_and_names_the_uri() {
    let tree = Tree::new().file("a.txt", "x").dir("d");
    for path in ["gone.txt", "gone/a.txt", "a.txt/b", "a.txt/", "d/gone", "%252e%252e", "a.txt?x=1"] {
        let uri = format!("{}/{path}", tree.uri(""));
        let [legacy, modern] = errors(&tree, &uri);
        assert_eq!((&legacy["code"], &modern["code"]), (&json!(-32002), &json!(-32602)), "{path}");
        assert_eq!((&legacy["data"]["uri"], &modern["data"]["uri"]), (&json!(uri), &json!(uri)), "{path}");
    }
}

#[test]
fn every_legacy_revision_says_not_found_the_same_way() {
    let tree = Tree::new();
    for revision in LEGACY {
        let error = TestServer::start(&tree).legacy(revision).error("resources/read", json!({"uri": tree.uri("gone")}));
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(tree.uri("gone"))), "{revision}");
    }
}

/// The answer must not reveal whether there is anything outside.
#[test]
fn a_uri_outside_is_rejected_in_the_same_way_whatever_is_there() {
    let tree = Tree::new();
    let mut answers = Vec::new();
    for uri in ["../secret".to_owned(), "../nothing".to_owned(), tree.uri("../secret"), tree.uri("") + "/%2e%2e/secret"]
    {
        for mut error in errors(&tree, &uri) {
            assert_eq!(error["code"], -32602, "{uri}");
            assert_eq!(error["data"]["uri"], uri);
            answers.push(error["message"].take());
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[test]
fn a_uri_of_another_scheme_or_host_is_rejected() {
    let tree = Tree::new().file("a.txt", "x");
    let inside = tree.uri("a.txt");
    for uri in [
        inside.replace("file://", "http://localhost"),
        inside.replace("file://", "file://elsewhere"),
        inside.replace("a.txt", "x%2fa.txt"),
        inside.replace("a.txt", "a%00.txt"),
        "file:///".to_owned(),
        "mailto://a.txt".to_owned(),
    ] {
        for error in errors(&tree, &uri) {
            assert_eq!(error["code"], -32602, "{uri}");
        }
    }
    let mut server = TestServer::start(&tree);
    for params in [json!({}), json!({"uri": null}), json!({"uri": 1}), json!({"uri": [inside]})] {
        assert_eq!(server.error("resources/read", params.clone())["code"], -32602, "{params}");
    }
}

/// Each path above it is matched against the deny patterns: for a path of a megabyte that would take hours.
#[test]
fn a_path_longer_than_possible_is_rejected_at_once() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for name in [".e/", "\u{e9}/", "a/../"] {
        let long = name.repeat((1 << 20) / name.len());
        let error = server.error("resources/read", json!({"uri": tree.uri("") + "/" + &long}));
        assert_eq!(error["code"], -32602, "{name}: {error}");
        assert!(error["message"].as_str().unwrap().contains("too long"), "{name}: {error}");
    }
}

/// -32603, because Claude Code hides the message of -32602 and -32002.
#[test]
fn a_blob_over_the_limit_is_refused_with_size_and_limit() {
    let tree = Tree::new().file("fits.bin", [0; 1_234]).file("over.bin", [0; 1_235]);
    let mut server = TestServer::builder(&tree).limits(|limits| limits.blob_bytes = 1_234).start();
    let result = server.result("resources/read", json!({"uri": tree.uri("fits.bin")}));
    assert!(result["contents"][0]["blob"].is_string());
    let error = server.error("resources/read", json!({"uri": tree.uri("over.bin")}));
    assert_eq!(error["code"], -32603);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("1,235") && message.contains("1,234"), "{message}");
}

#[test]
fn a_blob_far_beyond_all_limits_is_refused_by_its_first_bytes() {
    let tree = Tree::new().file("huge.bin", [0xFF; 16]);
    std::fs::File::options().write(true).open(tree.join("huge.bin")).unwrap().set_len(1 << 40).unwrap();
    for error in errors(&tree, &tree.uri("huge.bin")) {
        assert_eq!(error["code"], -32603);
        assert!(error["message"].as_str().unwrap().contains("3,750,000"), "{error}");
    }
}

#[test]
fn a_denied_resource_names_the_pattern() {
    let tree = Tree::new().file(".env", "KEY=1").file("d/.ssh/config", "");
    for path in [".env", "d/.ssh/config", "d/.ssh", ".ENV", "d/.ssh/gone"] {
        for error in errors(&tree, &tree.uri(path)) {
            assert_eq!(error["code"], -32603, "{path}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("denied") && message.contains("--no-default-deny"), "{path}: {message}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_special_file_is_named_by_its_kind() {
    let tree = Tree::new().fifo("pipe").socket("sock").link("loop", "loop").link("to-pipe", "pipe");
    for (path, said) in [("pipe", "FIFO"), ("sock", "socket"), ("to-pipe", "FIFO"), ("loop", "links")] {
        for error in errors(&tree, &tree.uri(path)) {
            assert_eq!(error["code"], -32603, "{path}: {error}");
            assert!(error["message"].as_str().unwrap().contains(said), "{path}: {error}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_is_refused_and_its_target_is_not_named() {
    let tree = Tree::new().link("out", "../secret").link("absolute", "/etc/passwd").link("d/up", "../..");
    for path in ["out", "absolute", "d/up", "d/up/secret", "d/up/nothing"] {
        for error in errors(&tree, &tree.uri(path)) {
            assert_eq!(error["code"], -32602, "{path}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("outside") && !message.contains("passwd"), "{path}: {message}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_broken_link_is_not_found() {
    let tree = Tree::new().link("broken", "nowhere");
    let [legacy, modern] = errors(&tree, &tree.uri("broken"));
    assert_eq!((&legacy["code"], &modern["code"]), (&json!(-32002), &json!(-32602)));
}

/// However it is spelled; and it is not echoed in full.
#[test]
fn a_uri_longer_than_any_file_needs_is_rejected() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let long = |dots: usize| tree.uri("") + &"/.".repeat(dots) + "/a.txt";
    for method in ["resources/read", "resources/subscribe", "resources/unsubscribe"] {
        server.result(method, json!({"uri": long(10_000)}));
        let error = server.error(method, json!({"uri": long(20_000)}));
        assert_eq!(error["code"], -32602, "{method}: {error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains("32,768")), "{method}: {error}");
        assert!(error.to_string().len() < 1_000, "{method}: {error}");
    }
}
