//! Hostile trees: whatever is done with them is answered in time, within bounds, and truthfully.
//!
//! | what is hostile | where it is tested |
//! | --- | --- |
//! | paths of 4,095 bytes, nesting beyond what a path can say | `depth` |
//! | names of 255 bytes, with escapes, bidi controls, invalid UTF-8, all but alike | `names`; what is shown of them: `shown`; how they are read: `cases::listing` (c10, c11) |
//! | sparse files of a terabyte, sizes that no sum holds | `sizes`; their holes when copied: `writes::copying`; as blobs: `resources::errors` |
//! | files that grow, shrink or are replaced while they are read, directories that change while they are listed | `changing`; swapped for links: `sandbox::race` |
//! | directories of 100,000 entries | `crowds` |
//! | names that are missing in a crowd | `lookups` |
//! | `.gitignore` bombs, and ones that are no files | `ignore`; too large ones: `resources::left_out` |
//! | what may not be read, and loops of links | `barred`; every kind of link: `sandbox::links` |
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

/// What a tool's answer may take: 40,000 bytes of text, and notes.
const MOST_BYTES: usize = 40_000 + 4_000;

/// Does everything that takes a path, to one below the served directory. What a tool says is within its bound.
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

/// Bytes of all text blocks of a tool's answer.
fn bytes_in(answer: &Answer) -> usize {
    let blocks = answer.0["result"]["content"].as_array().expect("a tool's answer");
    blocks.iter().filter_map(|block| block["text"].as_str()).map(str::len).sum()
}

/// The text of a tool's answer and its note, empty where there is none.
fn said(client: &mut impl Client, tool: &str, arguments: Value) -> (String, String) {
    let (text, note) = text_and_note(client, tool, arguments);
    (text, note.unwrap_or_default())
}

/// What the path can become while it is typed.
fn completed(client: &mut impl Client, tree: &Tree, typed: &str) -> Vec<String> {
    let template = tree.uri("") + "/{+path}{?offset,limit,column}";
    let argument = json!({"name": "path", "value": typed});
    let params = json!({"ref": {"type": "ref/resource", "uri": template}, "argument": argument});
    let result = client.result("completion/complete", params);
    let values = result["completion"]["values"].as_array().expect("values");
    values.iter().map(|value| value.as_str().expect("text").to_owned()).collect()
}
