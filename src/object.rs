//! A JSON object read one level deep: its keys, and each value still as the text it came as.
//!
//! Envelopes, parameters, `_meta` and tool arguments are all read this way, so that a line is parsed once, nothing
//! is copied before it is needed, and hostile nesting costs nothing: a value that nobody asks for is only skipped.
//! What a key means is its reader's business ([`crate::wire::message`], [`crate::era`], the tools).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object, in the order they came. Of repeated keys the last one counts, as in JavaScript and
/// Python.
#[derive(Debug, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Reads `raw`; `None` when it is valid JSON but no object.
    pub fn parse(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// The value of `key`, where it is there; JSON `null` is a value.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Whether any key satisfies `wanted`.
    pub fn any_key(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|(key, _)| wanted(key))
    }

    /// The value of `key` as a string; `None` when it is absent or no string.
    pub fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        string(self.get(key)?)
    }

    /// All members, in the order they came, repeated keys included.
    pub fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

/// The JSON string in `raw`, borrowed where it holds no escape; `None` when it is something else.
pub fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    match text.strip_prefix('"')?.strip_suffix('"') {
        Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(text).ok().map(Cow::Owned),
    }
}

/// Whether `raw` is JSON `null`, which callers treat like an absent value.
pub fn is_null(raw: &RawValue) -> bool {
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
                while let Some(Key(key)) = map.next_key()? {
                    members.push((key, map.next_value()?));
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A key that borrows from the line where it holds no escape (`Cow` alone always copies). Half a surrogate pair, which
/// JavaScript writes as an escape, is replaced: it names nothing that is asked for, and must not cost the others.
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
    fn depth_is_no_danger() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(Object::parse(&raw(&deep)).is_some());
    }
}
