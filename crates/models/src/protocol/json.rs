//! JSON helpers of all protocols: lenient parsing, merging, repair.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use memchr::memchr;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolwright_core::schema::{InputLimits, repair};

pub(crate) type JsonObject = Map<String, Value>;

/// A type that is read from any JSON value in one pass.
///
/// Each method reads a value of one JSON type and returns `None` if that is not the type's own, so that one odd field does not
/// fail the frame.
pub(crate) trait Lenient<'de>: Sized {
    fn from_text(_: Cow<'de, str>) -> Option<Self> {
        None
    }

    fn from_bool(_: bool) -> Option<Self> {
        None
    }

    fn from_unsigned(_: u64) -> Option<Self> {
        None
    }

    fn from_negative(_: i64) -> Option<Self> {
        None
    }

    fn from_float(_: f64) -> Option<Self> {
        None
    }

    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or an object in it has a field twice.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }

    /// Returns true for JSON that was kept as it is, and is null.
    fn is_null(&self) -> bool {
        false
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Owned(text)))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(T::from_bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(T::from_unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(match u64::try_from(number) {
            Ok(number) => T::from_unsigned(number),
            Err(_) => T::from_negative(number),
        })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(T::from_float(number))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        T::from_object(object)
    }
}

impl<'de> Lenient<'de> for String {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(text.into_owned())
    }
}

impl<'de: 'a, 'a> Lenient<'de> for Cow<'a, str> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(text)
    }
}

impl Lenient<'_> for bool {
    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }
}

impl Lenient<'_> for u16 {
    fn from_unsigned(number: u64) -> Option<Self> {
        number.try_into().ok()
    }
}

impl Lenient<'_> for u64 {
    fn from_unsigned(number: u64) -> Option<Self> {
        Some(number)
    }
}

impl Lenient<'_> for i64 {
    fn from_unsigned(number: u64) -> Option<Self> {
        number.try_into().ok()
    }

    fn from_negative(number: i64) -> Option<Self> {
        Some(number)
    }
}

impl<'de> Lenient<'de> for Value {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Self::deserialize(deserializer).map(Some)
    }
}

impl<'de> Lenient<'de> for JsonObject {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

impl<'de: 'a, 'a> Lenient<'de> for &'a RawValue {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        <&RawValue>::deserialize(deserializer).map(Some)
    }

    fn is_null(&self) -> bool {
        self.get() == "null"
    }
}

impl<'de> Lenient<'de> for Box<RawValue> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Self::deserialize(deserializer).map(Some)
    }

    fn is_null(&self) -> bool {
        self.get() == "null"
    }
}

impl<'de, T: Lenient<'de>> Lenient<'de> for Option<T> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(T::read(deserializer)?.filter(|value| !value.is_null()).map(Some))
    }
}

/// For large values that most frames lack, because a frame is moved several times.
impl<'de, T: Lenient<'de>> Lenient<'de> for Box<T> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(T::read(deserializer)?.map(Self::new))
    }

    fn is_null(&self) -> bool {
        T::is_null(self)
    }
}

/// A list, if all its elements have the expected type.
impl<'de, T: Lenient<'de>> Lenient<'de> for Vec<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut elements = Some(Self::new());
        while let Some(LenientValue(element)) = list.next_element()? {
            elements = elements.zip(element).map(|(mut elements, element)| {
                elements.push(element);
                elements
            });
        }
        Ok(elements)
    }
}

/// The elements of a list that have the expected type; a single object counts as a list of one.
#[derive(Debug)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Lenient<'de>> Lenient<'de> for OneOrMany<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut elements = Vec::new();
        while let Some(LenientValue(element)) = list.next_element()? {
            elements.extend(element);
        }
        Ok(Some(Self(elements)))
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Ok(T::from_object(object)?.map(|element| Self(vec![element])))
    }
}

/// Text, which may be borrowed, or a value of another type.
pub(crate) enum TextOrValue<'a> {
    Text(Cow<'a, str>),
    Value(Value),
}

impl Default for TextOrValue<'_> {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}

impl<'de: 'a, 'a> Lenient<'de> for TextOrValue<'a> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(Self::Text(text))
    }

    fn from_bool(value: bool) -> Option<Self> {
        Some(Self::Value(value.into()))
    }

    fn from_unsigned(number: u64) -> Option<Self> {
        Some(Self::Value(number.into()))
    }

    fn from_negative(number: i64) -> Option<Self> {
        Some(Self::Value(number.into()))
    }

    fn from_float(number: f64) -> Option<Self> {
        Some(Self::Value(number.into()))
    }

    fn from_list<A: SeqAccess<'de>>(list: A) -> Result<Option<Self>, A::Error> {
        let value = Value::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Some(Self::Value(value)))
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(object))?;
        Ok(Some(Self::Value(value)))
    }
}

/// A value of a list or an object; `None` if it has another type.
struct LenientValue<T>(Option<T>);

impl<'de, T: Lenient<'de>> Deserialize<'de> for LenientValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self)
    }
}

/// Reads the next name of an object, without a copy if it has no escapes.
pub(crate) fn next_name<'de, A: MapAccess<'de>>(
    object: &mut A,
) -> Result<Option<Cow<'de, str>>, A::Error> {
    let name = object.next_key::<LenientValue<Cow<'de, str>>>()?;
    Ok(name.map(|LenientValue(name)| name.unwrap_or_default()))
}

/// Reads the value of that name; the default if it has another type.
pub(crate) fn next_lenient<'de, A: MapAccess<'de>, T: Lenient<'de> + Default>(
    object: &mut A,
) -> Result<T, A::Error> {
    let LenientValue(value) = object.next_value()?;
    Ok(value.unwrap_or_default())
}

/// Reads the next element of a list; the default if it has another type.
pub(crate) fn next_element<'de, A: SeqAccess<'de>, T: Lenient<'de> + Default>(
    list: &mut A,
) -> Result<Option<T>, A::Error> {
    let element = list.next_element()?;
    Ok(element.map(|LenientValue(element)| element.unwrap_or_default()))
}

/// Parses a value of this type alone; `None` if the text is not JSON or has another type.
pub(crate) fn parse_lenient<'de, T: Lenient<'de>>(json: &'de str) -> Option<T> {
    serde_json::from_str(json).ok().and_then(|LenientValue(value)| value)
}

/// Deserializes a field; the default if its value has another type.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Lenient<'de> + Default,
{
    Ok(T::read(deserializer)?.unwrap_or_default())
}

/// The same JSON with the last one of fields that an object has twice, which serde rejects; `None` if it is not JSON.
pub(crate) fn without_duplicate_fields(json: &str) -> Option<String> {
    serde_json::from_str::<Value>(json).ok().map(|value| value.to_string())
}

/// Parses an object, also one that has a field twice; `None` if it is not one.
pub(crate) fn parse_object<T: DeserializeOwned>(json: &str) -> Option<T> {
    let parsed = serde_json::from_str(json).ok();
    parsed.or_else(|| serde_json::from_str(&without_duplicate_fields(json)?).ok())
}

/// Defines structs of a vendor's JSON, visible to its protocol: every field is [`Lenient`] and may be missing, unknown fields
/// are ignored.
macro_rules! lenient_structs {
    ($($(#[$attribute:meta])* struct $name:ident $(<$lifetime:lifetime>)? {
        $($(#[$field_attribute:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default)]
        $(#[$attribute])*
        pub(super) struct $name $(<$lifetime>)? {
            $(
                $(#[$field_attribute])*
                #[serde(deserialize_with = "crate::protocol::json::lenient")]
                pub(super) $field: $type,
            )*
        }

        impl<'de $(: $lifetime, $lifetime)?> crate::protocol::json::Lenient<'de>
            for $name $(<$lifetime>)?
        {
            fn from_object<A: serde::de::MapAccess<'de>>(
                object: A,
            ) -> Result<Option<Self>, A::Error> {
                let object = serde::de::value::MapAccessDeserializer::new(object);
                serde::Deserialize::deserialize(object).map(Some)
            }
        }
    )*};
}
pub(crate) use lenient_structs;

/// Replaces a count of tokens, if a later frame has it.
pub(crate) fn replace_count(count: &mut Option<u64>, later: Option<u64>) {
    *count = later.or(*count);
}

/// Replaces escaped lone surrogates by `\ufffd`.
///
/// A server that splits a text by UTF-16 code units sends such halves. JSON allows them, but a `String` cannot hold them, and
/// the whole frame would fail to parse.
pub(crate) fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut replaced = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(offset) = json.as_bytes().get(from..).and_then(|rest| memchr(b'\\', rest)) {
        let at = from + offset;
        from = match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at + 12,
            (Some(0xd800..0xe000), _) => {
                replaced.push_str(json.get(copied..at).unwrap_or_default());
                replaced.push_str("\\ufffd");
                copied = at + 6;
                copied
            }
            _ => at + 2,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    replaced.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(replaced)
}

/// An object with these fields, without those that are null.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> JsonObject {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A value; null, which [`object`] leaves out, if it is empty.
pub(crate) fn unless_empty(value: impl Into<Value>) -> Value {
    Some(value.into()).filter(|value| !is_empty(value)).unwrap_or_default()
}

pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Merges `extra` into `into`: objects are merged recursively, other values replaced.
pub(crate) fn merge_objects(into: &mut JsonObject, extra: &JsonObject) {
    for (name, value) in extra {
        match (into.get_mut(name), value) {
            (Some(Value::Object(into)), Value::Object(extra)) => merge_objects(into, extra),
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Converts an `f32` by its shortest decimal form: 0.7, not 0.699999988; null if it is missing or not finite.
pub(crate) fn number(number: Option<f32>) -> Value {
    let wide = number.and_then(|number| number.to_string().parse::<f64>().ok());
    wide.filter(|wide| wide.is_finite()).into()
}

/// Parses the arguments of an earlier call, repaired as they were when it ran, into the object that an API requires. Arguments that
/// were cut off, or are no object, are wrapped.
pub(crate) fn arguments_object(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    let repaired = repair(arguments, &InputLimits::default()).ok();
    let repaired = repaired.as_ref().map(|repair| repair.text.as_str());
    [Some(arguments), repaired]
        .into_iter()
        .flatten()
        .find_map(|text| serde_json::from_str(text).ok().filter(Value::is_object))
        // The model still needs to see what it sent: the call's result refers to it. Anthropic recommends this key.
        .unwrap_or_else(|| json!({"INVALID_JSON": arguments}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_becomes_a_replacement_character() {
        for (json, replaced) in [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83c\udf0d \n \\ud83c""#, r#""\ud83c\udf0d \n \\ud83c""#),
            (r#""a\ud83c""#, r#""a\ufffd""#),
            (r#""\uDF0D\ud83cé\ud83c\ud83c\udf0d""#, r#""\ufffd\ufffdé\ufffd\ud83c\udf0d""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r"\é\", r"\é\"),
        ] {
            assert_eq!(replace_lone_surrogates(json), replaced);
        }
    }

    lenient_structs! {
        struct Outer<'a> {
            #[serde(borrow)] text: Cow<'a, str>,
            count: Option<u64>,
            inner: Inner,
            list: Vec<Inner>,
            many: OneOrMany<Inner>,
            #[serde(borrow)] raw: Option<&'a RawValue>,
        }

        struct Inner {
            name: String,
        }
    }

    #[test]
    fn a_field_of_another_type_has_its_default_and_changes_no_other() {
        let odd = ["null", "true", "-1", "1.5", "\"odd\"", "[[], {}, 1]", "{\"odd\": [{}]}"];
        for field in ["text", "count", "inner", "list", "many"] {
            for value in odd {
                let json = format!(r#"{{"{field}": {value}, "raw": [1]}}"#);
                let outer: Outer<'_> = serde_json::from_str(&json).unwrap();
                assert_eq!(outer.raw.map(RawValue::get), Some("[1]"), "{json}");
                assert!(outer.text.is_empty() || value == "\"odd\"", "{json}");
                assert!(outer.count.is_none() && outer.inner.name.is_empty(), "{json}");
                assert!(outer.list.is_empty(), "{json}");
                // Of a list the objects count, and an object is a list of one.
                let objects = usize::from(field == "many" && value.contains('{'));
                assert_eq!(outer.many.0.len(), objects, "{json}");
            }
        }
        let json =
            r#"{"text": "a", "count": 2, "inner": {"name": "b"}, "list": [{}], "raw": null}"#;
        let outer: Outer<'_> = serde_json::from_str(json).unwrap();
        assert!(matches!(outer.text, Cow::Borrowed("a")));
        assert_eq!((outer.count, outer.inner.name.as_str()), (Some(2), "b"));
        assert_eq!((outer.list.len(), outer.raw.is_none()), (1, true));
    }

    #[test]
    fn of_a_field_that_an_object_has_twice_the_last_counts() {
        let json = r#"{"inner": {"name": "a", "name": "b"}}"#;
        assert!(serde_json::from_str::<Outer<'_>>(json).is_err());
        let deduplicated = without_duplicate_fields(json).unwrap();
        let outer: Outer<'_> = serde_json::from_str(&deduplicated).unwrap();
        assert_eq!(outer.inner.name, "b");
        assert_eq!(parse_object::<Inner>(r#"{"name": "a", "name": "b"}"#).unwrap().name, "b");
    }

    #[test]
    fn numbers_are_written_as_they_were_meant() {
        assert_eq!(number(Some(0.7)), json!(0.7));
        assert_eq!(number(Some(f32::NAN)), json!(null));
        assert_eq!(number(Some(f32::INFINITY)), json!(null));
    }

    #[test]
    fn arguments_become_an_object_whatever_they_are() {
        assert_eq!(arguments_object(" "), json!({}));
        assert_eq!(arguments_object("{'a': 1,}"), json!({"a": 1}));
        assert_eq!(arguments_object("[1]"), json!({"INVALID_JSON": "[1]"}));
        assert_eq!(arguments_object("{\"a\": "), json!({"INVALID_JSON": "{\"a\": "}));
    }
}
