//! Group K: media.

use serde_json::json;

use crate::support::{Client, TestServer, Tree};

/// The beginning of a picture in each format, with this width and height.
fn pictures(width: u16, height: u16) -> [(&'static str, Vec<u8>); 4] {
    let (w, h) = (width.to_be_bytes(), height.to_be_bytes());
    let (w_le, h_le) = (width.to_le_bytes(), height.to_le_bytes());
    let extended = |side: u16| [(side - 1).to_le_bytes().as_slice(), b"\0"].concat();
    [
        ("png", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", &w[..], b"\0\0", &h, b"\x08\x06\0\0\0"].concat()),
        ("jpeg", [b"\xff\xd8\xff\xe0\0\x04JF\xff\xff\xc0\0\x11\x08", &h[..], &w, b"\x03"].concat()),
        ("gif", [b"GIF89a", &w_le[..], &h_le, b"\0\0\0;"].concat()),
        ("webp", [b"RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0", &extended(width)[..], &extended(height)].concat()),
    ]
}

/// claude-code #29969, pi PR #2411: a picture of more than 8,000 pixels in width or height ended the session.
#[test]
fn k2_a_picture_with_too_many_pixels_is_refused_with_its_size_and_the_limit() {
    for (width, height, said) in
        [(9_000, 10, "9,000 x 10"), (10, 8_001, "10 x 8,001"), (16_000, 16_000, "16,000 x 16,000")]
    {
        for (kind, picture) in pictures(width, height) {
            let tree = Tree::new().file("picture", picture);
            let mut server = TestServer::start(&tree);
            let text = server.tool_error("read_media_file", json!({"path": "picture"}));
            assert!(text.contains(said) && text.contains("8,000"), "{kind}: {text}");
            // As a resource it is an ordinary file, which no client shows as a picture.
            let result = server.result("resources/read", json!({"uri": tree.uri("picture")}));
            assert_eq!(result["contents"][0]["mimeType"], format!("image/{kind}"));
        }
    }
}

#[test]
fn k2_a_picture_up_to_the_limit_is_an_image() {
    for (width, height) in [(8_000, 8_000), (1, 8_000), (1, 1)] {
        for (kind, picture) in pictures(width, height) {
            let tree = Tree::new().file("picture", picture);
            let result = TestServer::start(&tree).tool("read_media_file", json!({"path": "picture"}));
            assert_eq!(result["content"][0]["type"], "image", "{kind}: {result}");
        }
    }
}
