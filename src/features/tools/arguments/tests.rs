//! Which arguments are accepted, and the errors for those that are not.

use super::parameters::{optional, text};
use super::*;

const PARAMETERS: &[Parameter] = &[
    text("path", "Where."),
    optional("head", Kind::Count, "How many."),
    optional("depth", Kind::Number { least: 0, most: 100 }, "How deep."),
    optional("deep", Kind::Flag, "Whether."),
    optional("sort", Kind::Choice(&["name", "size"]), "How."),
    optional("paths", Kind::Texts { least: 1, most: 2 }, "Which."),
];

fn parsed(json: &str) -> Result<String, String> {
    let raw = RawValue::from_string(json.to_owned()).expect("valid JSON");
    match Arguments::parse(PARAMETERS, Some(&raw)) {
        Ok(a) => Ok(format!("{} {:?} {} {}", a.text("path"), a.count("head"), a.flag("deep"), a.texts("paths").len())),
        Err(ToolError::Message(text)) => Err(text),
        Err(ToolError::Failure(failure)) => Err(format!("{failure:?}")),
    }
}

#[test]
fn good_arguments_come_through_and_null_is_absent() {
    assert_eq!(parsed(r#"{"path":"a","head":3,"deep":true,"paths":["x"]}"#).as_deref(), Ok("a Some(3) true 1"));
    assert_eq!(parsed(r#"{"path":"a","head":null,"sort":"size"}"#).as_deref(), Ok("a None false 0"));
}

#[test]
fn numbers_and_flags_may_be_written_as_some_models_do() {
    for head in ["3", "3.0", "\"3\"", "0.3e1"] {
        let json = format!(r#"{{"path":"a","head":{head},"deep":"true"}}"#);
        assert_eq!(parsed(&json).as_deref(), Ok("a Some(3) true 0"), "{head}");
    }
    assert_eq!(parsed(r#"{"path":"a","deep":"false"}"#).as_deref(), Ok("a None false 0"));
    let most = parsed(r#"{"path":"a","head":9007199254740991}"#);
    assert_eq!(most.as_deref(), Ok("a Some(9007199254740991) false 0"));
    assert!(parsed(r#"{"path":"a","head":9007199254740992}"#).is_err());
}

#[test]
fn a_bad_argument_is_named_with_what_it_should_be() {
    for (json, want) in [
        (r"{}", "\"path\" is missing; it must be a string."),
        (r#"{"path":null}"#, "\"path\" is missing; it must be a string."),
        (r#"{"path":1}"#, "\"path\" must be a string."),
        (r#"{"path":"a","head":0}"#, "\"head\" must be an integer from 1 to 9007199254740991, not 0."),
        (r#"{"path":"a","head":-1}"#, "\"head\" must be an integer from 1 to 9007199254740991, not -1."),
        (r#"{"path":"a","depth":1.5}"#, "\"depth\" must be an integer from 0 to 100, not 1.5."),
        (r#"{"path":"a","depth":101}"#, "\"depth\" must be an integer from 0 to 100, not 101."),
        (r#"{"path":"a","depth":1e300}"#, "\"depth\" must be an integer from 0 to 100, not 1e300."),
        (r#"{"path":"a","depth":"1.0"}"#, "\"depth\" must be an integer from 0 to 100, not \"1.0\"."),
        (r#"{"path":"a","depth":""}"#, "\"depth\" must be an integer from 0 to 100, not \"\"."),
        (r#"{"path":"a","depth":true}"#, "\"depth\" must be an integer from 0 to 100, not true."),
        (r#"{"path":"a","deep":1}"#, "\"deep\" must be true or false, not 1."),
        (r#"{"path":"a","deep":"yes"}"#, "\"deep\" must be true or false, not \"yes\"."),
        (r#"{"path":"a","sort":"age"}"#, "\"sort\" must be one of \"name\", \"size\"."),
        (r#"{"path":"a","paths":[]}"#, "\"paths\" must be an array of 1 to 2 strings."),
        (r#"{"path":"a","paths":["a","b","c"]}"#, "\"paths\" must be an array of 1 to 2 strings."),
        (r#"{"path":"a","x":1}"#, "Unknown argument \"x\"; this tool takes path, head, depth, deep, sort, paths."),
    ] {
        assert_eq!(parsed(json).expect_err(json), want);
    }
}
