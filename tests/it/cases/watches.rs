//! Group F, continued: what a server takes from a system that others live on, too.

use std::fs;

use crate::live::Live;
use crate::live::watches::watches;
use crate::support::{Client as _, Tree};

/// microsoft/mcp #1930, azure-tools-for-java #11304, codegraph #579: 90,000 to 170,000 watches were taken at the start,
/// and no other program of the user got any.
#[test]
fn f8_a_tree_of_many_directories_takes_no_watch_until_somebody_wants_to_know_and_never_more_than_the_limit() {
    let tree = (0..2_000).fold(Tree::new(), |tree, number| tree.dir(format!("{}/{number}", number % 50)));
    let tree = tree.file("49/1999/last.txt", "one\n");
    let mut live = Live::spawn(tree, ["--poll-interval", "1"]);
    live.client.tool_text("search_files", serde_json::json!({"pattern": "*.txt"}));
    assert_eq!(watches(&live.client), [] as [&str; 0]);
    live.listen_to_list("list");
    live.listen_to("file", "49/1999/last.txt");
    crate::live::until("as many watches as there may be", || watches(&live.client).len() == 1_024);
    // The last one of all is noticed, be it by its watch or by looking.
    fs::write(live.tree.join("49/1999/last.txt"), "two\n").unwrap();
    assert_eq!(live.news(), "\"file\" updated 49/1999/last.txt");
    fs::write(live.tree.join("48/new.txt"), "").unwrap();
    assert_eq!(live.news(), "\"list\" list_changed");
    assert_eq!(watches(&live.client).len(), 1_024);
    let said = live.client.finish();
    assert_eq!(said.matches("directories cannot be watched (--watch-limit").count(), 1, "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}
