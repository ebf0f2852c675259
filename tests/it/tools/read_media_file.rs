//! `read_media_file`: the content determines the kind of block, never the name.

use serde_json::{Value, json};

use crate::support::{Client, TestServer, Tree};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0";
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\0\0\0;";
const WEBP: &[u8] = b"RIFF\x1a\0\0\0WEBPVP8L\0";
const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0";
const MP3: &[u8] = b"ID3\x04\0\0\0\0\0\0\0";
const FLAC: &[u8] = b"fLaC\0\0\0\x22";

/// The only block for a file with this name and content.
fn block(name: &str, content: &[u8]) -> Value {
    let tree = Tree::new().file(name, content);
    let mut result = TestServer::start(&tree).tool("read_media_file", json!({"path": name}));
    assert_ne!(result["isError"], true, "{name}: {result}");
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{name}: {result}");
    result["content"][0].take()
}

fn base64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

#[test]
fn images_and_audio_are_blocks_of_their_kind_whatever_their_name() {
    for (content, kind, mime_type) in [
        (PNG, "image", "image/png"),
        (JPEG, "image", "image/jpeg"),
        (GIF, "image", "image/gif"),
        (WEBP, "image", "image/webp"),
        (WAV, "audio", "audio/wav"),
        (MP3, "audio", "audio/mpeg"),
        (FLAC, "audio", "audio/flac"),
    ] {
        for name in ["right.bin", "no-extension", "wrong.txt", "wrong.svg", "wrong.png", "wrong.mp3"] {
            let want = json!({"type": kind, "data": base64(content), "mimeType": mime_type});
            assert_eq!(block(name, content), want, "{name}");
        }
    }
}

#[test]
fn a_name_alone_does_not_make_an_image() {
    let block = block("text.png", b"just text\n");
    assert_eq!(block["type"], "resource");
    assert_eq!(block["resource"]["text"], "just text\n");
    assert_eq!(block["resource"]["mimeType"], "text/plain");
}

#[test]
fn an_svg_is_an_embedded_text() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n";
    let tree = Tree::new().file("a b.svg", svg);
    let result = TestServer::start(&tree).tool("read_media_file", json!({"path": "a b.svg"}));
    let resource = json!({"uri": tree.uri("a b.svg"), "mimeType": "image/svg+xml", "text": svg});
    assert_eq!(result["content"], json!([{"type": "resource", "resource": resource}]));
}

#[test]
fn any_other_binary_is_an_embedded_blob() {
    let block = block("data.bin", b"\0\x01\x02\xff");
    assert_eq!(block["type"], "resource");
    assert_eq!(block["resource"]["blob"], base64(b"\0\x01\x02\xff"));
    assert_eq!(block["resource"]["mimeType"], "application/octet-stream");
    assert_eq!(block["resource"].get("text"), None);
}

#[test]
fn an_empty_file_is_an_empty_text() {
    assert_eq!(block("empty.png", b"")["resource"]["text"], "");
}

#[test]
fn media_over_the_limit_is_refused_with_size_and_limit() {
    let tree = Tree::new().file("fits.bin", [0; 1_234]).file("over.bin", [0; 1_235]);
    let mut server = TestServer::builder(&tree).limits(|limits| limits.blob_bytes = 1_234).start();
    let result = server.tool("read_media_file", json!({"path": "fits.bin"}));
    assert_eq!(result["content"][0]["resource"]["blob"], base64(&[0; 1_234]));
    let text = server.tool_error("read_media_file", json!({"path": "over.bin"}));
    assert!(text.contains("1,235") && text.contains("1,234"), "{text}");
}

#[test]
fn audio_is_an_embedded_resource_in_revisions_without_audio() {
    let tree = Tree::new().file("a.wav", WAV);
    let mut server = TestServer::start(&tree).legacy("2024-11-05");
    let result = server.tool("read_media_file", json!({"path": "a.wav"}));
    assert_eq!(result["content"][0]["type"], "resource");
    assert_eq!(result["content"][0]["resource"]["blob"], base64(WAV));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_with_the_reason() {
    let tree = Tree::new().dir("d").file("id_rsa", "key");
    let mut server = TestServer::start(&tree);
    for (path, reason) in [
        ("gone.png", "not found"),
        ("d", "directory"),
        ("../secret", "leads outside the served directory"),
        ("id_rsa", "denied by the pattern"),
    ] {
        let text = server.tool_error("read_media_file", json!({"path": path}));
        assert!(text.contains(reason), "{path}: {text}");
    }
}

/// Media may be large; a text is for the model's context, and has a limit of its own.
#[test]
fn a_text_longer_than_an_answer_is_referred_to_read_text_file() {
    let tree = Tree::new().file("a.svg", format!("<svg>{}</svg>", " ".repeat(50_000)));
    let text = TestServer::start(&tree).tool_error("read_media_file", json!({"path": "a.svg"}));
    assert!(text.contains("read_text_file") && text.contains("50,011"), "{text}");
}
