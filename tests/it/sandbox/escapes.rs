//! The table of escapes: every known way out x every operation x what is at its end.
//!
//! Each attempt is made four times: with a file, nothing, a directory and a FIFO at the place where it leads. The
//! answers must be identical to the last byte, or they would reveal what is on the host.

use std::fs;
use std::path::Path;

use super::attempts::Want::{Bad, Missing, NotDirectory, Outside};
use super::attempts::{LEADS_OUTSIDE, OTHERS, Want};
use super::walls::Walls;
use super::{Answer, OPERATIONS, READ_RESOURCE, SUBSCRIBE, ask};
use crate::support::{Client, SECRET_MARKER, TestServer, Tree};

/// A root with every kind of link in it.
pub(crate) fn tree() -> Tree {
    Tree::new()
        .file("inside.txt", "inside\n")
        .file("inner/leaf.txt", "leaf\n")
        .link("out", "../secret")
        .link("out-absolute", "{outside}/secret")
        .link("out-dir", "../target")
        .link("out-dir-absolute", "{outside}/target")
        .link("dangling", "../nowhere")
        .link("evil", "{root}-evil/secret")
        .link("to-sibling", "../root-evil")
        .link("slash", "/")
        .link("environ", "/proc/self/environ")
        .link("proc-root", "/proc/self/root")
        .link("up", "..")
        .link("inner/up2", "../..")
        .link("to-inner", "inner")
        .link("chain1", "chain2")
        .link("chain2", "{root}/chain3")
        .link("chain3", "../secret")
        .link("dir-chain1", "./inner/../dir-chain2")
        .link("dir-chain2", "../target")
        .link("to-out", "{root}/out")
        .link("through-root", "{root}/../secret")
        .link("round", "../root/inside.txt")
        .link("round-absolute", "{root}/../root/inside.txt")
}

/// What is at the places where the attempts lead: `secret`, `target`, `root-evil/secret` and `nowhere`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// Files, and a directory with a file in it.
    Present,
    Absent,
    /// A directory in place of a file, and vice versa.
    Exchanged,
    Fifo,
}

impl Target {
    pub(crate) fn set(self, outside: &Path) {
        let all = ["secret", "target", "root-evil", "nowhere"].map(|name| outside.join(name));
        for path in &all {
            let _ = fs::remove_dir_all(path);
            let _ = fs::remove_file(path);
        }
        let [secret, target, evil, nowhere] = all;
        let files = |paths: &[&Path]| paths.iter().try_for_each(|path| fs::write(path, SECRET_MARKER));
        let directories = |paths: &[&Path]| paths.iter().try_for_each(fs::create_dir);
        match self {
            Self::Present => {
                directories(&[&target, &evil]).expect("directories");
                files(&[&secret, &target.join("leaf"), &evil.join("secret")]).expect("files");
            }
            Self::Absent => {}
            Self::Exchanged => {
                directories(&[&secret, &nowhere]).expect("directories");
                files(&[&secret.join("leaf"), &target, &evil, &nowhere.join("leaf")]).expect("files");
            }
            Self::Fifo => {
                let made = std::process::Command::new("mkfifo").args([secret, target, evil, nowhere]).status();
                assert!(made.expect("mkfifo runs").success());
            }
        }
    }
}

pub(crate) fn spelled(tree: &Tree, spelling: &str) -> String {
    let [root, outside] = [tree.path(), tree.outside()].map(|path| path.to_str().expect("text"));
    let spelling = spelling.replace("{root}", root).replace("{outside}", outside);
    spelling.replace("{ROOT}", &root.to_uppercase()).replace("{dots}", &"../".repeat(1000))
}

/// Makes every attempt with one operation, and fails with a list of everything that went wrong.
pub(crate) fn no_attempt_succeeds<C: Client>(tree: &Tree, mut client: C, operation: &str) {
    let legacy = client.talk().conversation.negotiated().is_some();
    let alike = LEADS_OUTSIDE.iter().map(|spelling| (*spelling, Outside, Outside));
    let attempts: Vec<_> = alike.chain(OTHERS.iter().copied()).collect();
    let mut answers = |target: Target| -> Vec<Answer> {
        target.set(tree.outside());
        attempts.iter().map(|(path, ..)| ask(&mut client, tree, operation, &spelled(tree, path))).collect()
    };
    let mut wrong = Vec::new();
    let present = answers(Target::Present);
    for ((spelling, tool, resource), answer) in attempts.iter().zip(&present) {
        let want = if is_of_resources(operation) { resource } else { tool };
        if let Err(why) = judge(operation, *want, answer, legacy) {
            wrong.push(format!("{spelling}: {why}: {}", answer.0));
        }
    }
    for target in [Target::Absent, Target::Exchanged, Target::Fifo] {
        for (((spelling, ..), answer), other) in attempts.iter().zip(&present).zip(answers(target)) {
            if other != *answer {
                wrong.push(format!("{spelling}: {target:?} shows: {}, not {}", other.0, answer.0));
            }
        }
    }
    assert!(wrong.is_empty(), "{operation}: {} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn judge(operation: &str, want: Want, answer: &Answer, legacy: bool) -> Result<(), String> {
    let phrase = match want {
        Outside => "leads outside the served directory",
        Bad(word) => word,
        NotDirectory => "not a directory",
        Missing if is_of_resources(operation) => "",
        Missing => "not found",
    };
    if !answer.is_refusal() || !answer.words().contains(phrase) {
        return Err(format!("it should say {want:?}"));
    }
    let code = match want {
        _ if !is_of_resources(operation) => None,
        Missing if legacy => Some(-32002),
        _ => Some(-32602),
    };
    if answer.code() == code { Ok(()) } else { Err(format!("its code should be {code:?}")) }
}

fn is_of_resources(operation: &str) -> bool {
    [READ_RESOURCE, SUBSCRIBE].contains(&operation)
}

/// The real program: as users run it, and with the first wall alone.
fn behind_the_walls(operation: &str) {
    let tree = tree();
    for walls in [Walls::First, Walls::Both] {
        if let Some(process) = walls.start(&tree, &[]) {
            no_attempt_succeeds(&tree, process, operation);
        }
    }
}

#[test]
fn read_text_file_never_leads_out() {
    behind_the_walls("read_text_file");
}

#[test]
fn read_file_never_leads_out() {
    behind_the_walls("read_file");
}

#[test]
fn read_media_file_never_leads_out() {
    behind_the_walls("read_media_file");
}

#[test]
fn read_multiple_files_never_leads_out() {
    behind_the_walls("read_multiple_files");
}

#[test]
fn list_directory_never_leads_out() {
    behind_the_walls("list_directory");
}

#[test]
fn list_directory_with_sizes_never_leads_out() {
    behind_the_walls("list_directory_with_sizes");
}

#[test]
fn directory_tree_never_leads_out() {
    behind_the_walls("directory_tree");
}

#[test]
fn search_files_never_leads_out() {
    behind_the_walls("search_files");
}

#[test]
fn search_text_never_leads_out() {
    behind_the_walls("search_text");
}

#[test]
fn get_file_info_never_leads_out() {
    behind_the_walls("get_file_info");
}

#[test]
fn reading_a_resource_never_leads_out() {
    behind_the_walls(READ_RESOURCE);
}

#[test]
fn subscribing_never_leads_out() {
    behind_the_walls(SUBSCRIBE);
}

#[test]
fn reading_a_resource_never_leads_out_in_the_modern_era() {
    let tree = tree();
    no_attempt_succeeds(&tree, TestServer::start(&tree), READ_RESOURCE);
}

/// The table cannot remove files of the host; but it can include existing and missing ones.
#[test]
fn answers_do_not_reveal_whether_a_host_path_exists() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        let answers = ["/etc/passwd", "/etc/passwe", "/etc", "/root/.ssh/id_rsa", "/dev/zero", "/proc/1"].map(|path| {
            let answer = ask(&mut server, &tree, operation, path);
            answer.0.to_string().replace(path, "ASKED")
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{operation}: {answers:#?}");
    }
}
