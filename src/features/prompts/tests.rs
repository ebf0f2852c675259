//! From the bytes of a file to messages, without a disk.

use proptest::prelude::*;

use super::*;

const FORMATS: [Format; 3] = [Format::Own, Format::ClaudeCommand, Format::CopilotPrompt];

fn own(text: &str) -> Template {
    parse(text.as_bytes(), Format::Own).expect("a prompt")
}

fn wrong(text: &str) -> String {
    parse(text.as_bytes(), Format::Own).expect_err("no prompt").to_string()
}

fn said(template: &Template, arguments: &[(&str, &str)]) -> Result<Vec<Part>, RenderError> {
    let arguments: Vec<_> = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    render(template, &arguments)
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

/// `count` of something in a row.
fn many(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().concat()
}

const REVIEW: &str = "---
title: Review
description: >-
  Reviews a file
  with care
arguments:
  - name: path
    description: Which one
    required: true
  - {name: focus}
tags: [any, other, key]
---

Review {{path}}, above all {{ focus }}.
";

#[test]
fn front_matter_says_what_a_prompt_is_and_what_it_is_given() {
    let prompt = own(REVIEW);
    assert_eq!(prompt.title.as_deref(), Some("Review"));
    assert_eq!(prompt.description.as_deref(), Some("Reviews a file with care"));
    let arguments: Vec<_> =
        prompt.arguments.iter().map(|a| (a.name.as_str(), a.description.as_deref(), a.required)).collect();
    assert_eq!(arguments, [("path", Some("Which one"), true), ("focus", None, false)]);
    assert_eq!(
        said(&prompt, &[("path", "a.rs"), ("focus", "errors")]),
        Ok(vec![text("Review a.rs, above all errors.")])
    );
    let windows = REVIEW.replace('\n', "\r\n");
    assert_eq!(parse(format!("\u{feff}{windows}").as_bytes(), Format::Own).map(|p| p.arguments), Ok(prompt.arguments));
}

#[test]
fn without_front_matter_all_is_text() {
    let prompt = own("Say {{hello}}.\n---\nand go on");
    assert_eq!((&prompt.description, prompt.arguments.len()), (&None, 0));
    assert_eq!(said(&prompt, &[]), Ok(vec![text("Say {{hello}}.\n---\nand go on")]));
    assert_eq!(said(&own("---\n# nothing\n\n---\nx"), &[]), Ok(vec![text("x")]));
}

#[test]
fn an_argument_is_put_in_literally_and_once() {
    let prompt = own("---\narguments: [{name: a}, {name: b}]\n---\n{{a}}{{b}} {{{a}}} {{c}} {{a");
    let given = [("a", "{{b}} $1 \\n {{file:x}}"), ("b", "")];
    assert_eq!(said(&prompt, &given), Ok(vec![text(&format!("{0} {{{0}}} {{{{c}}}} {{{{a", given[0].1))]));
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    let prompt = own(REVIEW);
    let error = |arguments: &[(&str, &str)]| said(&prompt, arguments).expect_err("refused").to_string();
    assert_eq!(error(&[("focus", "x")]), "The argument \"path\" is missing; this prompt requires it.");
    assert_eq!(error(&[("path", "x"), ("Focus", "")]), "Unknown argument \"Focus\"; this prompt has path, focus.");
    assert_eq!(
        said(&own("x"), &[("y", "")]).map_err(|error| error.to_string()),
        Err("Unknown argument \"y\"; this prompt has none.".to_owned())
    );
}

#[test]
fn a_file_is_embedded_where_its_line_holds_nothing_else() {
    let prompt = own(
        "---\narguments: [{name: a}]\n---\nRead:\n\n  {{file: docs/a b.md }}  \n{{file:c}}\r\nand {{file:d}} {{a}}",
    );
    let file = |path: &str| Part::File(path.to_owned());
    let expected = vec![text("Read:"), file("docs/a b.md"), file("c"), text("and {{file:d}} {{file:e}}")];
    assert_eq!(said(&prompt, &[("a", "{{file:e}}")]), Ok(expected));
}

#[test]
fn an_argument_cannot_become_a_file() {
    let prompt = own("---\narguments: [{name: a}]\n---\n{{a}}\n{{file:{{a}}}}");
    assert_eq!(said(&prompt, &[("a", "{{file:x}}")]), Ok(vec![text("{{file:x}}\n{{file:{{file:x}}}}")]));
}

#[test]
fn commands_of_claude_code_are_read_as_they_are() {
    let command = "---\nallowed-tools: Bash(git add:*), Bash(git status:*)\nargument-hint: [number] [priority]\n\
        description: Fix an issue\nmodel: x\n---\n\nFix #$1 ($2), !`git status`, @src/a.rs, $10, $x, $ARGUMENTS[0].\n$ARGUMENTS";
    let prompt = parse(command.as_bytes(), Format::ClaudeCommand).expect("a command");
    assert_eq!(prompt.description.as_deref(), Some("Fix an issue"));
    let arguments: Vec<_> =
        prompt.arguments.iter().map(|a| (a.name.as_str(), a.description.as_deref(), a.required)).collect();
    let hint = Some("[number] [priority]");
    assert_eq!(arguments, [("1", hint, false), ("2", hint, false), ("ARGUMENTS", hint, false)]);
    let expected = "Fix #7 (), !`git status`, @src/a.rs, $10, $x, $ARGUMENTS[0].\n7 high";
    assert_eq!(said(&prompt, &[("1", "7"), ("ARGUMENTS", "7 high")]), Ok(vec![text(expected)]));
    let plain = parse(b"# Tidy up\n\nAll of it.", Format::ClaudeCommand).expect("a command");
    assert_eq!(plain.description.as_deref(), Some("Tidy up"));
}

#[test]
fn prompts_of_copilot_are_read_as_they_are() {
    let file = "---\nname: form\nagent: agent\nmodel: GPT-4o\ntools: ['search', 'githubRepo']\ndescription: 'A form'\n---\n\
        Make ${input:formName:the form's name}, see [x](../x.md) and ${selection}. ${input:formName}, ${input:a b}";
    let prompt = parse(file.as_bytes(), Format::CopilotPrompt).expect("a prompt");
    assert_eq!((prompt.title.as_deref(), prompt.description.as_deref()), (Some("form"), Some("A form")));
    let [argument] = &prompt.arguments[..] else { panic!("{:?}", prompt.arguments) };
    assert_eq!((argument.description.as_deref(), argument.required), (Some("the form's name"), true));
    let expected = "Make login, see [x](../x.md) and ${selection}. login, ${input:a b}";
    assert_eq!(said(&prompt, &[("formName", "login")]), Ok(vec![text(expected)]));
}

#[test]
fn a_file_that_is_no_prompt_says_why() {
    for (file, why) in [
        ("", "there is no text"),
        ("---\ndescription: x\n---\n\n", "there is no text"),
        ("---\ndescription: x\n", "has no end"),
        ("---\ndescription: a: b\n---\nx", "cannot be read"),
        ("---\n- a\n---\nx", "cannot be read"),
        ("---\narguments: path\n---\nx", "cannot be read"),
        ("---\narguments: [{description: x}]\n---\nx", "cannot be read"),
        ("---\narguments: [{name: a, required: maybe}]\n---\nx", "cannot be read"),
        ("---\narguments: [{name: a}, {name: a}]\n---\nx", "declared twice"),
        ("---\narguments: [{name: \"a b\"}]\n---\nx", "\"a b\" cannot be the name"),
        ("---\narguments: [{name: \"\\u202e\"}]\n---\nx", "\"\\u{202e}\" cannot be the name"),
        ("a\0b", "not text"),
    ] {
        assert!(wrong(file).contains(why), "{file:?}: {}", wrong(file));
        assert!(!wrong(file).contains('\n'), "one line: {:?}", wrong(file));
    }
    assert_eq!(parse(b"\xFF", Format::Own), Err(ParseError::NotText));
}

#[test]
fn hostile_files_cost_little() {
    let arguments = many(33, |n| format!("{{name: a{n}}},"));
    let bomb = "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b]";
    let deep = |n: usize| format!("x: {}{}", "[".repeat(n), "]".repeat(n));
    for front_matter in [
        bomb.to_owned(),
        "a: &a x\ndescription: *a".to_owned(),
        deep(20),
        deep(8_000),
        format!("x: {}", "{a: ".repeat(2_000)),
        format!("x:\n{}", many(100, |n| " ".repeat(n) + "- \n")),
        "- x\n".repeat(2_000),
        format!("description: {}", "x".repeat(17 << 10)),
        format!("x: [{}]", "a,".repeat(2_000)),
        "? ".repeat(4_000),
        "!!binary ".repeat(1_000),
        format!("arguments: [{arguments}]"),
    ] {
        let file = format!("---\n{front_matter}\n---\nx");
        let shown: String = front_matter.chars().take(80).collect();
        assert!(parse(file.as_bytes(), Format::Own).is_err(), "{shown}");
    }
    assert_eq!(parse(&vec![b'x'; MOST_FILE_BYTES + 1], Format::Own), Err(ParseError::TooLong(MOST_FILE_BYTES)));
    assert_eq!(wrong(&"{{file:a}}\n".repeat(33)), "more than 32 embedded files");
    assert_eq!(own(&"{{file:a}}\n".repeat(32)).pieces.len(), 32);
    assert!(own(&"{".repeat(200_000)).pieces.len() == 1);
    let inputs = many(2_000, |n| format!("${{input:a{n}}}"));
    assert_eq!(parse(inputs.as_bytes(), Format::CopilotPrompt), Err(ParseError::TooManyArguments(32)));
}

#[test]
fn a_prompt_that_would_be_too_long_is_not_made() {
    let prompt = own(&format!("---\narguments: [{{name: a}}]\n---\n{}", "{{a}}".repeat(40_000)));
    assert!(said(&prompt, &[("a", "0123456789")]).is_ok());
    assert_eq!(said(&prompt, &[("a", &"x".repeat(1 << 20))]), Err(RenderError::TooLong));
}

proptest! {
    /// Whatever a file contains, its parts without placeholders are unchanged in the messages.
    #[test]
    fn text_without_arguments_is_said_as_it_stands(body in "[a-z{}$: \\n]{1,60}") {
        for format in FORMATS {
            let Ok(prompt) = parse(body.as_bytes(), format) else { continue };
            let has_places = prompt.pieces.iter().any(|piece| !matches!(piece, Piece::Text(_)));
            if !has_places && !body.starts_with("---") {
                let all = render(&prompt, &[]).expect("no arguments");
                prop_assert_eq!(all, vec![Part::Text(body.trim().to_owned())]);
            }
        }
    }
}
