//! Hostile trees: every request is answered in time, within limits, and truthfully.
//!
//! | what is hostile | where it is tested |
//! | --- | --- |
//! | paths of 4,095 bytes, nesting beyond what a path can express | `depth` |
//! | names of 255 bytes, with escapes, bidi controls, invalid UTF-8, nearly identical ones | `names`; how they are shown: `shown`; how they are read: `cases::listing` (c10, c11) |
//! | sparse files of a terabyte, sizes whose sum overflows | `sizes`; copying their holes: `writes::copying`; as blobs: `resources::errors` |
//! | files that grow, shrink or are replaced while being read, directories that change while being listed | `changing`; swapped for links: `sandbox::race` |
//! | directories of 100,000 entries | `crowds` |
//! | missing names in a crowd | `lookups` |
//! | `.gitignore` bombs, and ones that are not files | `ignore`; too large ones: `resources::left_out` |
//! | unreadable files, and loops of links | `barred`; every kind of link: `sandbox::links` |
//! | FIFOs, sockets, devices | `sandbox::special`, `cases::reading` |
//! | procfs and sysfs, as the served directory and inside it | `sandbox::kernel` |

mod barred;
mod changing;
mod crowds;
mod depth;
mod ignore;
mod lookups;
mod names;
mod shown;
mod sizes;

use serde_json::{Value, json};

use crate::sandbox::{Answer, OPERATIONS, READ_RESOURCE, ask};
use crate::support::{Client, Tree};
use crate::tools::text_and_note;

/// The limit of a tool's answer in bytes: 40,000 of text, and notes.
const MOST_BYTES: usize = 40_000 + 4_000;

/// Every operation that takes a path, with one below the served directory. The answers of tools stay within their
/// limit.
fn everything(client: &mut impl Client, tree: &Tree, path: &str) -> Vec<(&'static str, Answer)> {
    let mut answers = Vec::new();
    for operation in OPERATIONS {
        let asked = if operation == READ_RESOURCE { tree.uri(path) } else { path.to_owned() };
        let answer = ask(client, tree, operation, &asked);
        assert!(
            operation == READ_RESOURCE || bytes_in(&answer) <= MOST_BYTES,
            "{operation}: {} bytes",
            bytes_in(&answer)
        );
        answers.push((operation, answer));
    }
    answers
}

/// The bytes of all text blocks in a tool's answer.
fn bytes_in(answer: &Answer) -> usize {
    let blocks = answer.0["result"]["content"].as_array().expect("a tool's answer");
    blocks.iter().filter_map(|block| block["text"].as_str()).map(str::len).sum()
}

/// The text of a tool's answer and its note, empty if there is none.
fn said(client: &mut impl Client, tool: &str, arguments: Value) -> (String, String) {
    let (text, note) = text_and_note(client, tool, arguments);
    (text, note.unwrap_or_default())
}

/// The completions of a partial path.
fn completed(client: &mut impl Client, tree: &Tree, typed: &str) -> Vec<String> {
    let template = tree.uri("") + "/{+path}{?offset,limit,column}";
    let argument = json!({"name": "path", "value": typed});
    let params = json!({"ref": {"type": "ref/resource", "uri": template}, "argument": argument});
    let result = client.result("completion/complete", params);
    let values = result["completion"]["values"].as_array().expect("values");
    values.iter().map(|value| value.as_str().expect("text").to_owned()).collect()
}
