//! The served directory with entries of every kind, and what to expect of each place.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{SECRET_MARKER, Tree};

/// The largest blob that is returned, and one byte more.
pub(crate) const MOST: usize = 3_750_000;
/// The number of lines in [`Served::long_line`].
pub(crate) const LONG: usize = 20_000;
/// The number of small text files.
pub(crate) const SMALL: usize = 30;

/// What is at a place.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A text of at most a few KiB.
    Text(Arc<str>),
    /// A binary file that is small enough to be returned, in base64.
    Binary(Arc<str>),
    /// Text that needs several answers, or decoding.
    OtherText,
    Directory,
    /// Nothing, or nothing that may be returned: outside, denied, a pipe, a loop.
    Refused,
}

/// A place and what is there.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) what: What,
}

/// The tree and all its places.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) tree: Tree,
    pub(crate) places: Vec<Place>,
}

impl Served {
    pub(crate) fn new() -> Self {
        let tree = Tree::new().dir("mine").dir("log").dir("churn/a/b").dir("odd").dir("small").dir("text");
        let tree =
            tree.link("link-in", "small/f0.txt").link("link-abs", "{root}/small/f0.txt").link("link-dir", "text");
        let tree = tree.link("link-out", "../secret").link("link-abs-out", "{outside}/secret").link("loop", "loop");
        let tree = tree.link("link-up", "..").link("link-proc", "/proc/self/environ").link("to-env", ".env");
        let mut served = Self { tree: tree.fifo("pipe").socket("socket"), places: Vec::new() };
        served.texts();
        served.binaries();
        served.directories();
        served.refused();
        served
    }

    pub(crate) fn long_line(number: usize) -> String {
        format!("line {number} of a long text, \"quoted\" and\ttabbed\n")
    }

    fn texts(&mut self) {
        for n in 0..SMALL {
            let text = format!("small file {n}\nneedle-{n}.\n{}", "the same line again\n".repeat(n * 5));
            self.file(format!("small/f{n}.txt"), &text, What::Text(text.as_str().into()));
        }
        for name in
            ["odd/a b#?%é.txt", "odd/%2e%2e", "odd/new\nline", "odd/C:\\x", "ignored/x.txt", "a.log", "odd/\u{202e}x"]
        {
            let text = format!("{name:?}\n");
            self.file(name, &text, What::Text(text.as_str().into()));
        }
        self.file("text/empty", "", What::Text("".into()));
        let long: String = (1..=LONG).map(Self::long_line).collect();
        self.file("text/long.txt", &long, What::OtherText);
        self.file("text/huge.txt", long.repeat(10), What::OtherText);
        self.file("text/one-line.txt", "0123456789é".repeat(40_000), What::OtherText);
        self.file("text/escapes.txt", "\u{1}\u{7f}\"\\\t\u{2028}\r\n".repeat(30_000), What::OtherText);
        self.file("text/latin1.txt", b"stra\xdfe und gr\xfc\xdfe\n".repeat(500), What::OtherText);
        let utf16: Vec<u8> = "\u{feff}wide text\n".repeat(500).encode_utf16().flat_map(u16::to_le_bytes).collect();
        self.file("text/utf16.txt", utf16, What::OtherText);
        self.file(".gitignore", "ignored/\n*.log\n", What::OtherText);
        self.file(format!("{}leaf.txt", "deep/".repeat(60)), "a leaf\n", What::Text("a leaf\n".into()));
        let first = self.places[0].what.clone();
        self.place("link-in", first.clone());
        self.place("link-abs", first);
        let name = OsStr::from_bytes(b"odd/\xff\xfe.txt");
        self.file(name, "no text for a name\n", What::Text("no text for a name\n".into()));
    }

    fn binaries(&mut self) {
        for (name, size) in [("bin/small.bin", 5_000), ("bin/middle.bin", 300_000), ("bin/most.bin", MOST)] {
            let bytes: Vec<u8> = (0..size).map(|n: usize| (n * n / 7) as u8).collect();
            let base64 = base64_simd::STANDARD.encode_to_string(&bytes);
            self.file(name, bytes, What::Binary(base64.into()));
        }
        let picture = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &vec![0; 50_000]].concat();
        let base64 = base64_simd::STANDARD.encode_to_string(&picture);
        self.file("bin/picture.png", picture, What::Binary(base64.into()));
    }

    fn directories(&mut self) {
        for n in 0..1_500 {
            self.write(format!("many/entry-{n}"), "x");
        }
        for path in ["", "small", "text", "bin", "odd", "many", "deep/deep", "link-dir", "churn"] {
            self.place(path, What::Directory);
        }
    }

    fn refused(&mut self) {
        for path in [".env", "small/.ENV.local", ".ssh/config"] {
            self.write(path, SECRET_MARKER);
        }
        self.write("bin/over.bin", vec![0; MOST + 1]);
        for path in [
            "link-out",
            "link-abs-out",
            "loop",
            "link-up/secret",
            "link-up/root/../secret",
            "link-proc",
            "pipe",
            "socket",
            ".env",
            "small/.ENV.local",
            ".ssh/config",
            ".SSH/config",
            "to-env",
            "../secret",
            "small/../../secret",
            "none",
            "small/f0.txt/x",
            "/etc/passwd",
            "/proc/self/environ",
            "..",
            "bin/over.bin",
            "//secret",
            "~/secret",
            "small/../../root/../secret",
            "nul\0",
            "churn/swap/secret",
        ] {
            self.place(path, What::Refused);
        }
    }

    fn file(&mut self, path: impl AsRef<Path>, content: impl AsRef<[u8]>, what: What) {
        self.write(&path, content);
        self.place(path, what);
    }

    fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.tree.join(path);
        fs::create_dir_all(path.parent().expect("below root")).expect("parents");
        fs::write(path, content).expect("a file");
    }

    fn place(&mut self, path: impl AsRef<Path>, what: What) {
        self.places.push(Place { path: path.as_ref().to_owned(), what });
    }

    /// Nothing was created or changed outside, and no incomplete file is left behind. For the end of a life.
    pub(crate) fn check_unharmed(&self) {
        let outside = self.tree.outside();
        let mut names: Vec<_> =
            fs::read_dir(outside).expect("it is there").map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        assert_eq!(names, ["root", "secret"], "something was made outside");
        assert_eq!(fs::read_to_string(outside.join("secret")).expect("text"), format!("{SECRET_MARKER}\n"));
        assert!(!Path::new("/tmp/mcp-fs-soak-made").exists(), "something was made outside");
        let left = walkdir::WalkDir::new(self.tree.path()).into_iter().flatten();
        let left: Vec<_> = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".mcp-fs-")).collect();
        assert!(left.is_empty(), "half-done files are left: {left:?}");
    }
}
