//! A JSON object parsed one level deep: its keys, and each value as raw text.
//!
//! Envelopes, parameters, `_meta` and tool arguments are all read this way. A line is parsed once, nothing is copied
//! before it is needed, and hostile nesting costs nothing because unused values are skipped. What a key means is up to
//! its reader ([`crate::jsonrpc::message`], [`crate::protocol`], the tools).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// How many members or items of one object or array are kept; the rest is skipped. A line of 32 MiB can hold ten
/// million.
const MOST: usize = 1_000;

/// The first thousand members of a JSON object, in order. If a key is repeated, the last value counts, as in JavaScript
/// and Python.
#[derive(Debug, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Parses `raw`; `None` if it is valid JSON but not an object.
    pub fn parse(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// The value of `key`, if present. JSON `null` is a value.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Whether any key satisfies `wanted`.
    pub(crate) fn any_key(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|(key, _)| wanted(key))
    }

    /// The value of `key` as a string; `None` if it is absent or not a string.
    pub fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        string(self.get(key)?)
    }

    /// All members in order, repeated keys included.
    pub fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

/// The JSON string in `raw`, borrowed unless it contains escapes; `None` if it is not a string.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    match text.strip_prefix('"')?.strip_suffix('"') {
        Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(text).ok().map(Cow::Owned),
    }
}

/// Whether `raw` is JSON `null`, which callers treat as absent.
pub(crate) fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(4);
                while members.len() < MOST {
                    let Some(Key(key)) = map.next_key()? else { return Ok(Object(members)) };
                    members.push((key, map.next_value()?));
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The items of a JSON array: the first thousand, and how many there are.
#[derive(Debug)]
pub struct Array<'a> {
    /// The first items.
    pub items: Vec<&'a RawValue>,
    /// How many items the array has.
    pub length: usize,
}

impl<'de> Deserialize<'de> for Array<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;

        impl<'de> Visitor<'de> for Items {
            type Value = Array<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while items.len() < MOST {
                    let Some(item) = seq.next_element()? else { return Ok(Array { length: items.len(), items }) };
                    items.push(item);
                }
                let mut length = items.len();
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    length += 1;
                }
                Ok(Array { items, length })
            }
        }

        deserializer.deserialize_seq(Items)
    }
}

/// The beginning of a text from the client, to be quoted in an error: the answer must not grow with the request.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 300;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// A key, borrowed from the line unless it contains escapes (plain `Cow` always copies). Half of a surrogate pair,
/// which JavaScript can write as an escape, is replaced: no known key contains one, and it must not invalidate the
/// other keys.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Key(String::from_utf8_lossy(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("valid JSON")
    }

    #[test]
    fn the_last_of_repeated_keys_counts() {
        let text = raw(r#"{"a":1,"a":2}"#);
        let object = Object::parse(&text).expect("an object");
        assert_eq!(object.get("a").map(RawValue::get), Some("2"));
    }

    #[test]
    fn keys_and_strings_may_hold_escapes() {
        let text = raw(r#"{"\u0061":"\"\\"}"#);
        let object = Object::parse(&text).expect("an object");
        assert_eq!(object.string("a").as_deref(), Some("\"\\"));
    }

    #[test]
    fn a_string_is_not_mistaken_for_what_ends_in_an_escaped_quote() {
        assert_eq!(string(&raw(r#""a\"b""#)).as_deref(), Some("a\"b"));
        assert_eq!(string(&raw("7")), None);
    }

    #[test]
    fn of_very_many_only_the_first_are_kept() {
        let array: Array<'_> = serde_json::from_str("[1,2]").expect("an array");
        assert_eq!((array.items.len(), array.length), (2, 2));
        let many = format!("[{}0]", "0,".repeat(5_000));
        let array: Array<'_> = serde_json::from_str(&many).expect("an array");
        assert_eq!((array.items.len(), array.length), (MOST, 5_001));
        let many = raw(&format!("{{{}\"z\":1}}", "\"a\":0,".repeat(5_000)));
        assert_eq!(Object::parse(&many).expect("an object").members().count(), MOST);
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(Object::parse(&raw(&deep)).is_some());
    }
}
