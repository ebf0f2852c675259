//! File systems on which every operation is a round trip: how many operations each call takes, that several are in
//! flight at once, and that changes by other machines are noticed.

use std::time::Duration;

use serde_json::json;

use super::remote_fs::{Behaviour, RemoteFs};
use crate::resources::list_all;
use crate::sandbox::skipped;
use crate::support::{Client, Process, Tree, run};

const DIRECTORIES: usize = 40;
const FILES_EACH: usize = 12;

/// The time for which names and attributes are cached: for ever, so that no count depends on how long a test takes.
const CACHED: Behaviour = Behaviour { ttl: Duration::from_hours(1), delay: Duration::ZERO };

/// A server of such a file system. The tree is unmounted after it, and then removed.
struct Scene {
    process: Process,
    remote: RemoteFs,
    tree: Tree,
}

/// `None`, with a notice, if nothing can be mounted.
fn scene(behaviour: Behaviour, options: &[&str]) -> Option<Scene> {
    let tree = Tree::new().dir("far");
    let at = tree.join("far");
    let remote = RemoteFs::mount(&at, &files(), behaviour)
        .inspect_err(|error| skipped("a remote file system", &format!("FUSE cannot be mounted: {error}")))
        .ok()?;
    let options = options.iter().map(|option| (*option).to_owned());
    let process = Process::spawn(options.chain([at.to_string_lossy().into_owned()])).legacy("2025-11-25");
    remote.take_counts();
    Some(Scene { process, remote, tree })
}

fn files() -> Vec<(String, String)> {
    let file = |directory: usize, file: usize| {
        (format!("d{directory:02}/f{file:02}.txt"), format!("text {directory} {file}\nneedle\n"))
    };
    (0..DIRECTORIES).flat_map(|directory| (0..FILES_EACH).map(move |number| file(directory, number))).collect()
}

impl Scene {
    /// What a call took: opening directories, reading them, look-ups and attributes, and the content of files.
    fn operations(&mut self, call: impl FnOnce(&mut Process)) -> [usize; 4] {
        call(&mut self.process);
        let (counts, _) = self.remote.take_counts();
        let of = |kinds: &[&str]| kinds.iter().filter_map(|kind| counts.get(kind)).sum();
        let (reading, facts) = (of(&["readdir", "readdirplus"]), of(&["lookup", "getattr", "statfs"]));
        [of(&["opendir"]), reading, facts, of(&["open", "read", "flush"])]
    }
}

/// Each directory is read until it is known that nothing follows; the largest takes some more.
const READS: usize = 2 * (DIRECTORIES + 1) + 5;

/// Each directory is looked up once. Sizes and times come with the names.
const FACTS: usize = DIRECTORIES + 10;

#[test]
fn a_list_opens_each_directory_once_and_no_file() {
    let Some(mut scene) = scene(CACHED, &["--watch=off"]) else { return };
    let [opened, reads, facts, contents] = scene.operations(|process| {
        assert_eq!(list_all(process).len(), DIRECTORIES * FILES_EACH);
    });
    assert_eq!(opened, DIRECTORIES + 1);
    assert!(reads <= READS && facts <= FACTS, "{reads} {facts}");
    assert_eq!(contents, 0);
}

#[test]
fn a_search_for_names_and_a_tree_take_no_operation_per_file() {
    let Some(mut scene) = scene(CACHED, &["--watch=off"]) else { return };
    for (tool, arguments) in [("search_files", json!({"pattern": "f03.txt"})), ("directory_tree", json!({}))] {
        let [opened, reads, facts, contents] = scene.operations(|process| {
            assert!(process.tool_text(tool, arguments).contains("f03.txt"));
        });
        assert_eq!(opened, DIRECTORIES + 1, "{tool}");
        assert!(reads <= READS && facts <= FACTS, "{tool}: {reads} {facts}");
        assert_eq!(contents, 0, "{tool}");
    }
}

#[test]
fn a_search_of_contents_opens_and_reads_each_file_once() {
    let Some(mut scene) = scene(CACHED, &["--watch=off", "--max-output-bytes=200000"]) else { return };
    let [opened, reads, facts, contents] = scene.operations(|process| {
        let arguments = json!({"query": "needle", "filesOnly": true, "limit": 10_000});
        assert_eq!(process.tool_text("search_text", arguments).lines().count(), DIRECTORIES * FILES_EACH);
    });
    assert_eq!(opened, DIRECTORIES + 1);
    assert!(reads <= READS && facts <= FACTS, "{reads} {facts}");
    assert!(contents <= 2 * DIRECTORIES * FILES_EACH + 10, "{contents}");
}

#[test]
fn a_completion_takes_four_round_trips() {
    let Some(mut scene) = scene(CACHED, &["--watch=off"]) else { return };
    let templates = scene.process.result("resources/templates/list", json!({}));
    let asked = json!({
        "ref": {"type": "ref/resource", "uri": templates["resourceTemplates"][0]["uriTemplate"]},
        "argument": {"name": "path", "value": "d07/"},
    });
    let [opened, reads, facts, contents] = scene.operations(|process| {
        let values = &process.result("completion/complete", asked)["completion"]["values"];
        assert_eq!(values.as_array().map(Vec::len), Some(FILES_EACH), "{values}");
    });
    assert!(opened + reads + facts + contents <= 4, "{opened} {reads} {facts} {contents}");
}

#[test]
fn several_operations_are_in_flight_at_once() {
    let slow = Behaviour { delay: Duration::from_millis(20), ..CACHED };
    let Some(mut scene) = scene(slow, &[]) else { return };
    for (tool, arguments) in [("directory_tree", json!({})), ("search_text", json!({"query": "absent", "path": "d01"}))]
    {
        scene.process.tool(tool, arguments);
        let (_, most) = scene.remote.take_counts();
        assert!(most >= 3, "{tool}: {most}");
    }
}

#[test]
fn changes_by_another_machine_are_noticed_by_polling() {
    let fresh = Behaviour { ttl: Duration::ZERO, delay: Duration::ZERO };
    let Some(Scene { process, remote, tree }) = scene(fresh, &["--poll-interval=1"]) else { return };
    let mut process = process;
    let uri = |path: &str| format!("{}/{path}", tree.uri("far"));
    process.result("resources/subscribe", json!({"uri": uri("d00/f00.txt")}));
    process.result("resources/list", json!({}));
    remote.add("d00/f00.txt", "changed by another machine\n");
    let updated = process.recv();
    assert_eq!(updated["method"], "notifications/resources/updated", "{updated}");
    remote.add("d39/new.txt", "new\n");
    let changed = process.recv();
    assert_eq!(changed["method"], "notifications/resources/list_changed", "{changed}");
    process.finish();
}

/// The served directory is local; what is mounted in it is not.
#[test]
fn changes_below_a_mount_in_a_local_directory_are_noticed_by_polling() {
    let fresh = Behaviour { ttl: Duration::ZERO, delay: Duration::ZERO };
    let Some(scene) = scene(fresh, &[]) else { return };
    let mut process = Process::spawn(["--poll-interval=1".as_ref(), scene.tree.path()]).legacy("2025-11-25");
    process.result("resources/list", json!({}));
    scene.remote.add("d39/new.txt", "new\n");
    assert_eq!(process.recv()["method"], "notifications/resources/list_changed");
    process.finish();
}

#[test]
fn check_says_that_the_directory_is_not_on_a_local_disk() {
    let Some(scene) = scene(CACHED, &["--watch=off"]) else { return };
    let report = run(["--check".into(), scene.tree.join("far")], "");
    let report = String::from_utf8(report.stdout).expect("text");
    assert!(report.contains("not a local disk (fuse): changes are detected by polling"), "{report}");
}
