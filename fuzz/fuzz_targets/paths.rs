//! Paths and URIs: what they name is below the served directory, is what the system finds there, and survives being
//! written as a URI.
//!
//! An input is a text in which `{root}` stands for the path of the served directory and `{around}` for that of its
//! parent.

#![no_main]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcp_fs::root::{RelPath, RequestedPath, Root, RootError};
use mcp_fs::runtime::cancel::Cancel;
use mcp_fs_fuzz::Scene;

static SCENE: LazyLock<(Scene, Root)> = LazyLock::new(|| {
    let scene = Scene::furnished();
    let root = scene.open();
    (scene, root)
});

fuzz_target!(|asked: &str| {
    let (scene, root) = &*SCENE;
    let asked = scene.spelled(asked);
    let (path, uri) = (root.locate(&asked), root.locate_uri(&asked));
    for located in [&path, &uri].into_iter().flatten() {
        is_a_plain_path(located);
        comes_back(root, located);
        opens_what_is_there(scene, root, located);
    }
    if let Ok(located) = &path
        && !asked.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
    {
        assert_eq!(located.path, below(scene, &asked).expect("it leads outside"), "{asked:?}");
    }
    if let Ok(located) = &uri {
        let absolute = root.absolute_uri(&asked, &located.path);
        assert_eq!(root.locate_uri(&absolute).expect("it was read before").path, located.path, "{absolute}");
    }
    assert!(asked.ends_with(root.strip_root(&asked)), "{asked:?}");
});

/// No empty components, no `.`, no NUL, and no longer than a system call accepts.
fn is_a_plain_path(located: &RequestedPath) {
    let bytes = located.path.as_bytes();
    assert!(bytes.len() <= 4_096 && !bytes.contains(&0), "{located:?}");
    assert_eq!(RelPath::from_bytes(bytes), located.path);
}

fn comes_back(root: &Root, located: &RequestedPath) {
    let uri = root.uri(&located.path);
    assert!(uri.is_ascii() && url::Url::parse(&uri).is_ok(), "{uri}");
    assert_eq!(root.locate_uri(&uri).expect("its own URI").path, located.path, "{uri}");
    assert_eq!(root.locate(&uri).expect("its own URI").path, located.path, "{uri}");
}

/// The components of a path below the served directory, by text.
fn below(scene: &Scene, asked: &str) -> Option<RelPath> {
    let mut components = asked.split('/').filter(|component| !matches!(*component, "" | "."));
    if asked.starts_with('/') {
        let root = scene.spelled("{root}");
        root.split('/').skip(1).all(|name| components.next() == Some(name)).then_some(())?;
    }
    Some(RelPath::from_bytes(components.collect::<Vec<_>>().join("/").as_bytes()))
}

fn opens_what_is_there(scene: &Scene, root: &Root, located: &RequestedPath) {
    match root.open_file(located, &Cancel::default()) {
        Ok(file) => {
            let mut content = vec![0; file.stat.size as usize + 1];
            let length = file.read_at(&mut content, 0, &Cancel::default()).expect("a file that can be read");
            content.truncate(length);
            // A name in another Unicode form or with other spaces is accepted if the exact name does not exist.
            let (exact, real) = (content_of(scene, &located.path), content_of(scene, &file.path));
            assert_eq!(Some(&content), exact.as_ref().or(real.as_ref()), "{located:?}");
            assert_eq!(real.as_ref(), Some(&content), "{located:?}");
        }
        Err(RootError::Denied { .. }) => {}
        Err(error) => {
            let there = content_of(scene, &located.path).filter(|_| !located.directory);
            assert_eq!(there, None, "{located:?}: {error}");
        }
    }
}

/// What the system finds at a path that stays inside at every step; `None` if it leaves, or leads to no file.
fn content_of(scene: &Scene, path: &RelPath) -> Option<Vec<u8>> {
    let mut at: PathBuf = scene.root().to_owned();
    for component in path.components() {
        at = fs::canonicalize(at.join(OsStr::from_bytes(component))).ok()?;
        if !at.starts_with(scene.root()) {
            return None;
        }
    }
    Some(at).filter(|at| at.is_file()).map(|at| fs::read(at).expect("a file"))
}
