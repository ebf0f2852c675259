//! The parameters of a tool: a single definition, from which both the JSON Schema and the checks of arguments are made.
//!
//! Schemas are flat, with one type per parameter and no combinators, which every client passes on intact. No client
//! checks arguments against them, so everything is checked here, and the model is told which argument is wrong and what
//! it should be. `null` means absent.

pub(super) mod parameters;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::tool_error::quoted;
use super::{ToolError, edits};
use crate::features::edit::Edit;
use crate::object::{self, Array, Object};

/// The largest integer that every client can write exactly as a JSON number.
pub(super) const MOST_EXACT: u64 = (1 << 53) - 1;

/// One parameter.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// For the model, with default and limit in words, because some clients strip them from the schema.
    pub(super) description: Description,
}

/// Text in pieces, some of which occur in several descriptions.
pub(super) type Description = [&'static str; 4];

/// The type of a parameter.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Any string.
    Text,
    /// An integer from 1 to [`MOST_EXACT`].
    Count,
    /// An integer in a range.
    Number { least: u64, most: u64 },
    /// `true` or `false`.
    Flag,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A list of strings.
    Texts {
        /// 0 or 1.
        least: usize,
        most: usize,
    },
    /// A list of edits, from one up to `most`.
    Edits { most: usize },
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
        let description = self.description.concat();
        match self.kind {
            Kind::Text => json!({ "type": "string", "description": description }),
            Kind::Count => number_schema(1, MOST_EXACT, &description),
            Kind::Number { least, most } => number_schema(least, most, &description),
            Kind::Flag => json!({ "type": "boolean", "description": description }),
            Kind::Choice(choices) => json!({ "type": "string", "enum": choices, "description": description }),
            Kind::Texts { least, most } => json!({
                "type": "array",
                "items": { "type": "string" },
                "minItems": least,
                "maxItems": most,
                "description": description,
            }),
            Kind::Edits { most } => edits::schema(most, &description),
        }
    }

    /// The parsed argument; or, in words, what it must be.
    fn parse<'a>(&self, raw: &'a RawValue) -> Result<Argument<'a>, String> {
        let argument = match self.kind {
            Kind::Text => object::string(raw).map(Argument::Text),
            Kind::Count => number(raw, 1, MOST_EXACT).map(Argument::Count),
            Kind::Number { least, most } => number(raw, least, most).map(Argument::Count),
            Kind::Flag => flag(raw).map(Argument::Flag),
            Kind::Choice(choices) => {
                object::string(raw).filter(|text| choices.contains(&text.as_ref())).map(Argument::Text)
            }
            Kind::Texts { least, most } => texts(raw, least, most).map(Argument::Texts),
            Kind::Edits { most } => return edits::parse(raw, most).map(Argument::Edits),
        };
        argument.ok_or_else(|| match self.kind {
            Kind::Count | Kind::Number { .. } | Kind::Flag => {
                format!("must be {}, not {}", self.expectation(), quoted(raw.get()))
            }
            _ => format!("must be {}", self.expectation()),
        })
    }

    fn expectation(&self) -> String {
        match self.kind {
            Kind::Text => "a string".to_owned(),
            Kind::Count => format!("an integer from 1 to {MOST_EXACT}"),
            Kind::Number { least, most } => format!("an integer from {least} to {most}"),
            Kind::Flag => "true or false".to_owned(),
            Kind::Choice(choices) => format!("one of \"{}\"", choices.join("\", \"")),
            Kind::Texts { least, most } => format!("an array of {least} to {most} strings"),
            Kind::Edits { most } => edits::expectation(most),
        }
    }
}

fn number_schema(least: u64, most: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
}

/// An integer in a range. Some models write it as `5.0` or `"5"`.
fn number(raw: &RawValue, least: u64, most: u64) -> Option<u64> {
    let text = raw.get();
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let number = if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        // The JSON parser does not accept a string as a number.
        let number = serde_json::from_str(text).ok();
        let whole = number.filter(|number: &f64| number.fract() == 0.0);
        whole.and_then(|number| format!("{number:.0}").parse().ok())
    };
    number.filter(|number| (least..=most).contains(number))
}

/// A boolean. Some models write it as a string.
fn flag(raw: &RawValue) -> Option<bool> {
    match raw.get() {
        "true" | "\"true\"" => Some(true),
        "false" | "\"false\"" => Some(false),
        _ => None,
    }
}

fn texts(raw: &RawValue, least: usize, most: usize) -> Option<Vec<String>> {
    let array: Array<'_> = serde_json::from_str(raw.get()).ok()?;
    let texts = (least..=most).contains(&array.length).then_some(array.items)?;
    texts.into_iter().map(|raw| object::string(raw).map(Cow::into_owned)).collect()
}

/// Checked arguments, accessed by name.
pub(super) struct Arguments<'a>(Vec<(&'static str, Argument<'a>)>);

enum Argument<'a> {
    Text(Cow<'a, str>),
    Count(u64),
    Flag(bool),
    Texts(Vec<String>),
    Edits(Vec<Edit>),
}

impl<'a> Arguments<'a> {
    /// Checks `raw`, which is a JSON object or absent, against `parameters`.
    pub(super) fn parse(parameters: &'static [Parameter], raw: Option<&'a RawValue>) -> Result<Self, ToolError> {
        let given = match raw {
            Some(raw) => {
                Object::parse(raw).ok_or_else(|| ToolError::message("The arguments must be a JSON object."))?
            }
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

    /// A string; empty if absent. Required arguments are always present.
    pub(super) fn text(&self, name: &str) -> &str {
        self.given_text(name).unwrap_or_default()
    }

    /// A string, if present.
    pub(super) fn given_text(&self, name: &str) -> Option<&str> {
        match self.find(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A number, if present.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        match self.find(name) {
            Some(Argument::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// A flag; false if absent.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.given_flag(name) == Some(true)
    }

    /// A flag, if present.
    pub(super) fn given_flag(&self, name: &str) -> Option<bool> {
        match self.find(name) {
            Some(Argument::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A list; empty if absent.
    pub(super) fn texts(&self, name: &str) -> &[String] {
        match self.find(name) {
            Some(Argument::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// Edits; none if absent.
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
