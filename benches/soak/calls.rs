//! Calls of every tool and method, valid and invalid, for places of every kind.

use std::path::Path;

use serde_json::{Value, json};

use crate::expect::{ENTRY, Expect};
use crate::support::file_uri;
use crate::traffic::{Piece, Traffic};
use crate::tree::{LONG, Place, SMALL, Served, What};

/// A method, its parameters, and the expected answer.
type Call = (&'static str, Value, Expect);

#[allow(clippy::needless_pass_by_value, reason = "called with json!")]
fn tool(name: &str, arguments: Value, expect: Expect) -> Call {
    ("tools/call", json!({"name": name, "arguments": arguments}), expect)
}

impl Traffic<'_> {
    /// Any call with arguments of the right types.
    pub(crate) fn call(&mut self) -> Call {
        match self.rng.u32(0..100) {
            0..35 => self.read(),
            35..50 => self.list(),
            50..60 => self.search(),
            60..80 => self.change(),
            80..90 => self.resource(),
            _ => self.long_text(),
        }
    }

    fn place(&mut self) -> Place {
        let at = self.rng.usize(0..self.served.places.len());
        self.served.places[at].clone()
    }

    /// A place in one of the forms that clients use: relative, absolute, or a URI.
    fn spelled(&mut self, path: &Path) -> String {
        let absolute = self.served.tree.join(path);
        let (Some(relative), Some(text)) = (path.to_str(), absolute.to_str()) else { return file_uri(&absolute) };
        match self.rng.u32(0..5) {
            0 => format!("./{relative}").trim_start_matches(if path.is_absolute() { "." } else { "" }).to_owned(),
            1 => text.to_owned(),
            2 => file_uri(&absolute),
            _ => relative.to_owned(),
        }
    }

    pub(crate) fn any_uri(&mut self) -> Value {
        let path = self.place().path;
        json!(file_uri(&self.served.tree.join(path)))
    }

    fn read(&mut self) -> Call {
        let place = self.place();
        let path = self.spelled(&place.path);
        match self.rng.u32(0..8) {
            0 => {
                // A pipe also has facts, and is never opened for them.
                let expect = if matches!(place.what, What::Refused) { Expect::Any } else { Expect::Works };
                tool("get_file_info", json!({"path": path}), expect)
            }
            1 => {
                let expect = match &place.what {
                    What::OtherText => Expect::Any, // may be more than fits
                    What::Directory => Expect::Fails,
                    what => expected(what, Expect::Works),
                };
                tool("read_media_file", json!({"path": path}), expect)
            }
            2 => {
                let mut paths = vec![path];
                for _ in 0..self.rng.usize(0..10) {
                    let more = self.place().path;
                    paths.push(self.spelled(&more));
                }
                tool("read_multiple_files", json!({"paths": paths}), Expect::Works)
            }
            n => {
                let expect = match &place.what {
                    What::Binary(_) | What::Directory => Expect::Fails,
                    what => expected(what, Expect::Works),
                };
                tool(if n == 3 { "read_file" } else { "read_text_file" }, json!({"path": path}), expect)
            }
        }
    }

    fn resource(&mut self) -> Call {
        let place = self.place();
        let uri = file_uri(&self.served.tree.join(&place.path));
        ("resources/read", json!({"uri": uri}), expected(&place.what, Expect::Works))
    }

    fn list(&mut self) -> Call {
        let place = self.place();
        let path = self.spelled(&place.path);
        let is_directory = matches!(place.what, What::Directory);
        let expect = if is_directory { Expect::Works } else { Expect::Fails };
        let number = self.rng.u32(1..300);
        match self.rng.u32(0..5) {
            0 => tool("list_directory", json!({"path": path, "offset": number, "limit": 50}), expect),
            1 => tool("list_directory_with_sizes", json!({"path": path, "sortBy": "size"}), expect),
            2 => tool("directory_tree", json!({"path": path, "maxDepth": number % 70 + 1}), expect),
            3 => tool("list_allowed_directories", json!({}), Expect::Works),
            _ => tool("list_directory", json!({"path": path}), expect),
        }
    }

    fn search(&mut self) -> Call {
        let number = self.rng.usize(0..SMALL);
        let ignored = self.rng.bool();
        match self.rng.u32(0..6) {
            0 => {
                let query = json!({"query": format!("needle-{number}."), "path": "small", "contextLines": number % 4});
                tool("search_text", query, Expect::Holds(format!("small/f{number}.txt")))
            }
            1 => {
                let query =
                    json!({"query": "(a|[b-é])+ *again$", "regex": true, "includeIgnored": ignored, "limit": 20});
                tool("search_text", query, Expect::Works)
            }
            2 => tool("search_text", json!({"query": "mcp-fs", "caseSensitive": ignored}), Expect::Works),
            3 => {
                let expect = Expect::Holds(format!("small/f{number}.txt"));
                tool("search_files", json!({"pattern": format!("f{number}.txt"), "path": "small"}), expect)
            }
            4 => tool("search_files", json!({"pattern": "**/*e*", "includeIgnored": ignored}), Expect::Works),
            _ => tool("directory_tree", json!({"includeIgnored": ignored, "excludePatterns": ["many"]}), Expect::Works),
        }
    }

    /// Lines of a long text with known content.
    fn long_text(&mut self) -> Call {
        let offset = self.rng.usize(1..=LONG);
        let limit = self.rng.usize(1..300);
        let lines = |from: usize, to: usize| -> String { (from..=to.min(LONG)).map(Served::long_line).collect() };
        let (arguments, text) = match self.rng.u32(0..3) {
            0 => (json!({"path": "text/long.txt", "head": limit}), lines(1, limit)),
            1 => (json!({"path": "text/long.txt", "tail": limit}), lines(LONG + 1 - limit, LONG)),
            _ => {
                let arguments = json!({"path": "link-dir/long.txt", "offset": offset, "limit": limit});
                (arguments, lines(offset, offset + limit - 1))
            }
        };
        tool("read_text_file", arguments, Expect::Text(text.into()))
    }

    /// Writes where the model allows them: a file in `mine` is as one write made it; `log` is appended to.
    fn change(&mut self) -> Call {
        let [one, other] = [(); 2].map(|()| self.rng.u32(0..6));
        let (path, target) = (format!("mine/f{one}.txt"), format!("mine/f{other}.txt"));
        let works = |expect| if self.writable { expect } else { Expect::Fails };
        let place = self.rng.u32(0..12);
        let stamp = format!("stamp {}\n", self.rng.u32(0..10));
        match place {
            0 | 1 => {
                let content = stamp.repeat(self.rng.usize(1..2_000));
                tool("write_file", json!({"path": path, "content": content}), works(Expect::Any))
            }
            2 => tool(
                "write_file",
                json!({"path": format!("log/l{one}.txt"), "content": ENTRY, "append": true}),
                works(Expect::Works),
            ),
            3 => {
                let edit = json!([{"oldText": format!("stamp {}\n", self.rng.u32(0..10)), "newText": stamp}]);
                let dry = self.rng.u32(0..4) == 0;
                tool(
                    "edit_file",
                    json!({"path": path, "edits": edit, "replaceAll": true, "dryRun": dry}),
                    works(Expect::Any),
                )
            }
            4 => tool("move_file", json!({"source": path, "destination": target}), works(Expect::Any)),
            5 => {
                tool("copy_file", json!({"source": path, "destination": target, "overwrite": true}), works(Expect::Any))
            }
            6 => tool("delete_file", json!({"path": path}), works(Expect::Any)),
            7 => {
                let name = format!("mine/tree-{one}");
                let copy = json!({"source": "small", "destination": name});
                if self.rng.bool() {
                    tool("copy_file", copy, works(Expect::Any))
                } else {
                    tool("delete_file", json!({"path": name, "recursive": true}), works(Expect::Any))
                }
            }
            8 => tool("create_directory", json!({"path": format!("mine/deep/{one}/{other}")}), works(Expect::Works)),
            9 => self.change_outside(),
            10 => tool("read_text_file", json!({"path": format!("log/l{one}.txt")}), Expect::Entries),
            _ => tool("read_text_file", json!({"path": path}), Expect::Uniform),
        }
    }

    /// Nothing may be created, changed or deleted at such a place.
    fn change_outside(&mut self) -> Call {
        let outside = [
            "../made",
            "link-up/made",
            "link-out",
            "link-abs-out",
            ".env",
            ".ssh/made",
            "/tmp/mcp-fs-soak-made",
            "pipe",
            "to-env",
            "mine/../../made",
            ".mcp-fs-0123456789abcdef.tmp",
            "link-proc",
        ];
        let path = self.pick(&outside);
        let path = self.spelled(Path::new(path));
        let edits = json!([{"oldText": "a", "newText": "b"}]);
        match self.rng.u32(0..4) {
            0 => tool("write_file", json!({"path": path, "content": "x", "createParents": true}), Expect::Fails),
            1 => tool("edit_file", json!({"path": path, "edits": edits}), Expect::Fails),
            2 => tool("copy_file", json!({"source": "small/f1.txt", "destination": path}), Expect::Fails),
            _ => tool("write_file", json!({"path": path, "content": "x", "append": true}), Expect::Fails),
        }
    }

    /// Every method, mostly with valid parameters.
    pub(crate) fn method(&mut self) -> Piece {
        let uri = self.any_uri();
        let prefix = self.pick(&["", "s", "small/", "text/l", "../", "none/", "link-up/"]);
        let template = json!({"type": "ref/resource", "uri": format!("{}/{{+path}}{{?offset,limit,column}}", self.served.tree.uri(""))});
        match self.rng.u32(0..12) {
            0 => self.request_in(false, "ping", json!({}), Expect::Works),
            1 => self.request("tools/list", json!({}), Expect::Works),
            2 => self.request("resources/list", json!({}), Expect::Works),
            3 => self.request("resources/templates/list", json!({}), Expect::Works),
            4 => self.request_in(true, "server/discover", json!({}), Expect::Works),
            5 | 6 => {
                let argument = json!({"name": "path", "value": prefix});
                self.request("completion/complete", json!({"ref": template, "argument": argument}), Expect::Works)
            }
            7 => self.request("resources/list", json!({"cursor": "none"}), Expect::Fails),
            8 => {
                let uri = format!("{}?offset={}&limit=9", uri.as_str().expect("a URI"), self.rng.u32(0..100));
                self.request("resources/read", json!({"uri": uri}), Expect::Any)
            }
            9 => self.initialize_again(),
            _ => {
                let (method, params, expect) = self.resource();
                self.request(method, params, expect)
            }
        }
    }

    /// Its id is not reused: a rejection with the same code would look like the answer of another.
    fn initialize_again(&mut self) -> Piece {
        let piece = self.request("initialize", json!({"protocolVersion": "2025-06-18"}), Expect::Fails);
        self.forget_last();
        piece
    }

    /// Arguments of wrong types, and unknown tools and methods.
    pub(crate) fn odd_call(&mut self) -> Piece {
        let odd = [
            json!(null),
            json!(-1),
            json!(1.5),
            json!(true),
            json!([]),
            json!({"a": {}}),
            json!("x"),
            json!("\u{0}é"),
            json!(u64::MAX),
        ];
        let odd = self.pick(&odd);
        let (method, mut params, _) = self.call();
        match self.rng.u32(0..6) {
            0 => self.request(&format!("{method}/none"), params, Expect::Fails),
            1 => self.request(method, json!({"name": odd, "uri": odd}), Expect::Any),
            2 => {
                params["arguments"] = odd;
                self.request(method, params, Expect::Any)
            }
            3 if params["arguments"].is_object() => {
                params["arguments"]["unknown"] = odd;
                self.request(method, params, Expect::Any)
            }
            _ => {
                if let Some(arguments) = params["arguments"].as_object_mut()
                    && let Some(value) = arguments.values_mut().next()
                {
                    *value = odd;
                }
                self.request(method, params, Expect::Any)
            }
        }
    }
}

fn expected(what: &What, otherwise: Expect) -> Expect {
    match what {
        What::Text(text) => Expect::Text(text.clone()),
        What::Binary(base64) => Expect::Base64(base64.clone()),
        What::OtherText | What::Directory => otherwise,
        What::Refused => Expect::Fails,
    }
}
