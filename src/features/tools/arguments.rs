//! A tool's parameters: one definition, from which both the JSON Schema and the checking of arguments are made.
//!
//! Schemas are flat, with one type each and no combinators, which is what every client passes on unharmed. No client
//! checks arguments against them, so all of it is checked here, and the model is told which argument is wrong and
//! what it should be. `null` is the same as absent.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{ToolError, edits};
use crate::features::edit::Edit;
use crate::object::{self, Array, Object};

/// One parameter.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// For the model, with default and limit in words: some clients strip them from the schema.
    pub(super) description: &'static str,
}

/// What a parameter takes.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Any string.
    Text,
    /// An integer of at least 1.
    Count,
    /// An integer of at least 0.
    Amount,
    /// `true` or `false`.
    Flag,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// Strings, from the least to the most of them.
    Texts {
        /// 0 or 1.
        least: usize,
        most: usize,
    },
    /// What to replace in a file, from one edit to the most of them.
    Edits { most: usize },
}

/// The path of a file or directory that must be given.
pub(super) const fn path(description: &'static str) -> Parameter {
    Parameter { name: "path", kind: Kind::Text, required: true, description }
}

/// A string that must be given.
pub(super) const fn text(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Text, required: true, description }
}

/// The path of a directory; the served one when it is not given.
pub(super) const fn directory() -> Parameter {
    let description = "The directory: relative to the served one, absolute inside it, or a file:// URI. Default: the \
        served directory.";
    optional("path", Kind::Text, description)
}

/// An optional parameter.
pub(super) const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Parameter {
    Parameter { name, kind, required: false, description }
}

/// The JSON Schema of a tool's arguments (2020-12, and valid as draft-07).
pub(super) fn schema(parameters: &[Parameter]) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    if !parameters.is_empty() {
        let properties: Map<_, _> = parameters.iter().map(|p| (p.name.to_owned(), p.schema())).collect();
        schema["properties"] = Value::Object(properties);
    }
    let required: Vec<_> = parameters.iter().filter(|p| p.required).map(|p| p.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

impl Parameter {
    fn schema(&self) -> Value {
        let description = self.description;
        match self.kind {
            Kind::Text => json!({ "type": "string", "description": description }),
            Kind::Count => json!({ "type": "integer", "minimum": 1, "description": description }),
            Kind::Amount => json!({ "type": "integer", "minimum": 0, "description": description }),
            Kind::Flag => json!({ "type": "boolean", "description": description }),
            Kind::Choice(choices) => json!({ "type": "string", "enum": choices, "description": description }),
            Kind::Texts { least, most } => json!({
                "type": "array",
                "items": { "type": "string" },
                "minItems": least,
                "maxItems": most,
                "description": description,
            }),
            Kind::Edits { most } => edits::schema(most, description),
        }
    }

    /// The argument; or what it must be, in words.
    fn parse<'a>(&self, raw: &'a RawValue) -> Result<Argument<'a>, String> {
        let argument = match self.kind {
            Kind::Text => object::string(raw).map(Argument::Text),
            Kind::Count => serde_json::from_str(raw.get()).ok().filter(|count| *count >= 1).map(Argument::Count),
            Kind::Amount => serde_json::from_str(raw.get()).ok().map(Argument::Count),
            Kind::Flag => serde_json::from_str(raw.get()).ok().map(Argument::Flag),
            Kind::Choice(choices) => {
                object::string(raw).filter(|text| choices.contains(&text.as_ref())).map(Argument::Text)
            }
            Kind::Texts { least, most } => texts(raw, least, most).map(Argument::Texts),
            Kind::Edits { most } => return edits::parse(raw, most).map(Argument::Edits),
        };
        argument.ok_or_else(|| format!("must be {}", self.expectation()))
    }

    fn expectation(&self) -> String {
        match self.kind {
            Kind::Text => "a string".to_owned(),
            Kind::Count => "an integer of at least 1".to_owned(),
            Kind::Amount => "an integer of at least 0".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Choice(choices) => format!("one of \"{}\"", choices.join("\", \"")),
            Kind::Texts { least, most } => format!("an array of {least} to {most} strings"),
            Kind::Edits { most } => edits::expectation(most),
        }
    }
}

fn texts(raw: &RawValue, least: usize, most: usize) -> Option<Vec<String>> {
    let array: Array<'_> = serde_json::from_str(raw.get()).ok()?;
    let texts = (least..=most).contains(&array.length).then_some(array.items)?;
    texts.into_iter().map(|raw| object::string(raw).map(Cow::into_owned)).collect()
}

/// Checked arguments, to be taken by name.
pub(super) struct Arguments<'a>(Vec<(&'static str, Argument<'a>)>);

enum Argument<'a> {
    Text(Cow<'a, str>),
    Count(u64),
    Flag(bool),
    Texts(Vec<String>),
    Edits(Vec<Edit>),
}

impl<'a> Arguments<'a> {
    /// Checks `raw`, a JSON object or nothing, against `parameters`.
    pub(super) fn parse(parameters: &'static [Parameter], raw: Option<&'a RawValue>) -> Result<Self, ToolError> {
        let given = match raw {
            Some(raw) => Object::parse(raw).ok_or_else(|| ToolError::message("The arguments must be an object."))?,
            None => Object::default(),
        };
        for (key, _) in given.members() {
            if !parameters.iter().any(|parameter| parameter.name == key) {
                return Err(ToolError::Message(unknown(key, parameters)));
            }
        }
        let mut arguments = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            match given.get(parameter.name) {
                Some(raw) if !object::is_null(raw) => {
                    let wrong = |must| ToolError::Message(format!("\"{}\" {must}.", parameter.name));
                    arguments.push((parameter.name, parameter.parse(raw).map_err(wrong)?));
                }
                _ if parameter.required => {
                    let text = format!("\"{}\" is missing; it must be {}.", parameter.name, parameter.expectation());
                    return Err(ToolError::Message(text));
                }
                _ => {}
            }
        }
        Ok(Self(arguments))
    }

    /// A string; empty when it was not given. Required ones are always there.
    pub(super) fn text(&self, name: &str) -> &str {
        self.given_text(name).unwrap_or_default()
    }

    /// A string, where it was given.
    pub(super) fn given_text(&self, name: &str) -> Option<&str> {
        match self.find(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A number, where it was given.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        match self.find(name) {
            Some(Argument::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// A flag; false when it was not given.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.given_flag(name) == Some(true)
    }

    /// A flag that means something else when it was not given.
    pub(super) fn given_flag(&self, name: &str) -> Option<bool> {
        match self.find(name) {
            Some(Argument::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A list; empty when it was not given.
    pub(super) fn texts(&self, name: &str) -> &[String] {
        match self.find(name) {
            Some(Argument::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// Edits; none when they were not given.
    pub(super) fn edits(&self, name: &str) -> &[Edit] {
        match self.find(name) {
            Some(Argument::Edits(edits)) => edits,
            _ => &[],
        }
    }

    fn find(&self, name: &str) -> Option<&Argument<'a>> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, argument)| argument)
    }
}

fn unknown(key: &str, parameters: &[Parameter]) -> String {
    let key = object::shortened(key);
    if parameters.is_empty() {
        return format!("Unknown argument {key:?}; this tool takes none.");
    }
    let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
    format!("Unknown argument {key:?}; this tool takes {}.", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        path("Where."),
        optional("head", Kind::Count, "How many."),
        optional("deep", Kind::Flag, "Whether."),
        optional("sort", Kind::Choice(&["name", "size"]), "How."),
        optional("paths", Kind::Texts { least: 1, most: 2 }, "Which."),
    ];

    fn parsed(json: &str) -> Result<String, String> {
        let raw = RawValue::from_string(json.to_owned()).expect("valid JSON");
        match Arguments::parse(PARAMETERS, Some(&raw)) {
            Ok(a) => {
                Ok(format!("{} {:?} {} {}", a.text("path"), a.count("head"), a.flag("deep"), a.texts("paths").len()))
            }
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
    fn a_bad_argument_is_named_with_what_it_should_be() {
        for (json, want) in [
            (r"{}", "\"path\" is missing; it must be a string."),
            (r#"{"path":null}"#, "\"path\" is missing; it must be a string."),
            (r#"{"path":1}"#, "\"path\" must be a string."),
            (r#"{"path":"a","head":0}"#, "\"head\" must be an integer of at least 1."),
            (r#"{"path":"a","head":-1}"#, "\"head\" must be an integer of at least 1."),
            (r#"{"path":"a","head":1.5}"#, "\"head\" must be an integer of at least 1."),
            (r#"{"path":"a","head":"1"}"#, "\"head\" must be an integer of at least 1."),
            (r#"{"path":"a","deep":1}"#, "\"deep\" must be true or false."),
            (r#"{"path":"a","sort":"age"}"#, "\"sort\" must be one of \"name\", \"size\"."),
            (r#"{"path":"a","paths":[]}"#, "\"paths\" must be an array of 1 to 2 strings."),
            (r#"{"path":"a","paths":["a","b","c"]}"#, "\"paths\" must be an array of 1 to 2 strings."),
            (r#"{"path":"a","x":1}"#, "Unknown argument \"x\"; this tool takes path, head, deep, sort, paths."),
        ] {
            assert_eq!(parsed(json).expect_err(json), want);
        }
    }
}
