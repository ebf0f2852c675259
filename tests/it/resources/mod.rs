//! Resources: the list and its pages, what it leaves out, and reading as a whole and in parts.

// What is listed, in which order, with which facts.
mod list;
// What is left out: ignored, denied, links, version control.
mod left_out;
// Cursors: across all pages, in another process, after the snapshot is gone, forged.
mod pages;

// One content per URI: text, blob, directory.
mod read;
// Texts longer than an answer, and ranges.
mod parts;
// What cannot be read, and its error code in both eras.
mod errors;

// The completions of a partial path.
pub(crate) mod completion;

use serde_json::{Value, json};

use crate::support::Client;

/// All resources, over all pages.
pub(crate) fn list_all(client: &mut impl Client) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), None);
    for _ in 0..1_000 {
        let params = cursor.map_or_else(|| json!({}), |cursor: Value| json!({"cursor": cursor}));
        let mut page = client.result("resources/list", params);
        all.append(page["resources"].as_array_mut().expect("resources"));
        cursor = page.get("nextCursor").cloned();
        if cursor.is_none() {
            return all;
        }
    }
    panic!("the pages never come to an end");
}

/// The names of listed resources, in order.
pub(crate) fn names(resources: &[Value]) -> Vec<&str> {
    resources.iter().map(|resource| resource["name"].as_str().expect("a name")).collect()
}

/// Reads a resource, which must return one content.
pub(crate) fn read(client: &mut impl Client, uri: &str) -> Value {
    let mut result = client.result("resources/read", json!({"uri": uri}));
    assert_eq!(result["contents"].as_array().map(Vec::len), Some(1), "one item: {result}");
    let item = result["contents"][0].take();
    assert_eq!(item["uri"], uri, "under the URI that was asked for");
    item
}

/// The bytes of a content.
pub(crate) fn bytes_of(item: &Value) -> Vec<u8> {
    match (item["text"].as_str(), item["blob"].as_str()) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(blob)) => base64_simd::STANDARD.decode_to_vec(blob).expect("base64"),
        _ => panic!("not exactly one of text and blob: {item}"),
    }
}
