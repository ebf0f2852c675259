//! The edits of `edit_file` as clients send them: an array of objects, or the same as a string of JSON.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::features::edit::Edit;
use crate::object::{self, Array, Object};

/// The two texts of an edit, with their descriptions.
const OLD: (&str, &str) = (
    "oldText",
    "The text to replace, exactly as it is in the file, white space too; with enough around it to be there only once.",
);
const NEW: (&str, &str) = ("newText", "The text to put in its place, taken literally. Empty: delete.");

/// The schema of a list of 1 to `most` edits.
pub(super) fn schema(most: usize, description: &str) -> Value {
    let text = |description| json!({ "type": "string", "description": description });
    let item = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": { OLD.0: text(OLD.1), NEW.0: text(NEW.1) },
        "required": [OLD.0, NEW.0],
    });
    json!({ "type": "array", "items": item, "minItems": 1, "maxItems": most, "description": description })
}

/// The list of edits in words, for an error.
pub(super) fn expectation(most: usize) -> String {
    format!("an array of 1 to {most} objects with \"{}\" and \"{}\"", OLD.0, NEW.0)
}

/// Parses the list. The error says what it, or which of its items, must be.
pub(super) fn parse(raw: &RawValue, most: usize) -> Result<Vec<Edit>, String> {
    let string = object::string(raw);
    let json = string.as_deref().unwrap_or(raw.get());
    let items = serde_json::from_str(json).ok().filter(|array: &Array<'_>| (1..=most).contains(&array.length));
    let items = items.ok_or_else(|| format!("must be {}", expectation(most)))?.items;
    items.into_iter().zip(1..).map(|(item, number)| edit(item, number)).collect()
}

fn edit(raw: &RawValue, number: usize) -> Result<Edit, String> {
    let item = Object::parse(raw).ok_or_else(|| format!("item {number} must be an object"))?;
    let text = |name| {
        let text = item.string(name).map(Cow::into_owned);
        text.ok_or_else(|| format!("item {number} must have \"{name}\", a string"))
    };
    let edit = Edit { old_text: text(OLD.0)?, new_text: text(NEW.0)? };
    match item.members().find(|(key, _)| ![OLD.0, NEW.0].contains(key)) {
        None => Ok(edit),
        Some((key, _)) => Err(format!("item {number} must have no {:?}", object::shortened(key))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(json: &str) -> Result<Vec<(String, String)>, String> {
        let raw = RawValue::from_string(json.to_owned()).expect("valid JSON");
        let pair = |edit: Edit| (edit.old_text, edit.new_text);
        parse(&raw, 2).map(|edits| edits.into_iter().map(pair).collect())
    }

    #[test]
    fn edits_are_taken_as_an_array_and_as_a_string_of_one() {
        let want = vec![("a".to_owned(), "\n".to_owned()), (String::new(), "\"".to_owned())];
        let array = r#"[{"oldText":"a","newText":"\n"},{"newText":"\"","oldText":""}]"#;
        assert_eq!(parsed(array).as_ref(), Ok(&want));
        assert_eq!(parsed(&Value::from(array).to_string()).as_ref(), Ok(&want));
    }

    #[test]
    fn what_is_wrong_with_them_is_said() {
        let array = "must be an array of 1 to 2 objects with \"oldText\" and \"newText\"";
        for (json, want) in [
            ("[]", array),
            ("{}", array),
            ("1", array),
            (r#""""#, array),
            (r#""[{]""#, array),
            ("[1,2,3]", array),
            ("[null]", "item 1 must be an object"),
            (r#"[{"oldText":"a","newText":"b"},{"oldText":"a"}]"#, "item 2 must have \"newText\", a string"),
            (r#"[{"oldText":1,"newText":"b"}]"#, "item 1 must have \"oldText\", a string"),
            (r#"[{"oldText":"a","newText":"b","x":1}]"#, "item 1 must have no \"x\""),
        ] {
            assert_eq!(parsed(json).expect_err(json), want);
        }
    }
}
