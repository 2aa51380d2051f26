//! [`ValueDeserializer`]: deserializes the value of a setting.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::error::DeserializeError;
use crate::secret::Secret;
use crate::value::SettingValue;

/// Deserializes a value; untyped text is converted to the type of the reader, if possible.
#[derive(Clone, Copy)]
pub(super) struct ValueDeserializer<'v>(pub(super) &'v SettingValue);

impl<'v> ValueDeserializer<'v> {
    fn untyped_text(self) -> Option<&'v str> {
        match self.0 {
            SettingValue::UntypedText(text) => Some(text.expose()),
            _ => None,
        }
    }

    fn integer<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let text = self.untyped_text().unwrap_or_default().trim();
        if let Ok(number) = text.parse() {
            visitor.visit_u64(number)
        } else if let Ok(number) = text.parse() {
            visitor.visit_i64(number)
        } else {
            self.deserialize_any(visitor)
        }
    }

    fn float<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.untyped_text().map(|text| text.trim().parse()) {
            Some(Ok(number)) => visitor.visit_f64(number),
            _ => self.deserialize_any(visitor),
        }
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    let is = |word: &&str| text.trim().eq_ignore_ascii_case(word);
    if ["true", "yes", "on", "1"].iter().any(is) {
        return Some(true);
    }
    let no = ["false", "no", "off", "0"].iter().any(is);
    no.then_some(false)
}

macro_rules! forward_to {
    ($($method:ident => $target:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
            self.$target(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            SettingValue::UntypedText(text) | SettingValue::Text(text) => {
                visitor.visit_str(text.expose())
            }
            SettingValue::Bool(yes) => visitor.visit_bool(*yes),
            SettingValue::Integer(number) => visitor.visit_i64(*number),
            SettingValue::Float(number) => visitor.visit_f64(*number),
            SettingValue::List(items) => {
                SeqDeserializer::new(items.iter().map(ValueDeserializer)).deserialize_any(visitor)
            }
            SettingValue::Table(entries) => visitor.visit_map(table_access(entries)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.untyped_text().and_then(parse_bool) {
            Some(yes) => visitor.visit_bool(yes),
            None => self.deserialize_any(visitor),
        }
    }

    forward_to! {
        deserialize_i8 => integer,
        deserialize_i16 => integer,
        deserialize_i32 => integer,
        deserialize_i64 => integer,
        deserialize_i128 => integer,
        deserialize_u8 => integer,
        deserialize_u16 => integer,
        deserialize_u32 => integer,
        deserialize_u64 => integer,
        deserialize_u128 => integer,
        deserialize_f32 => float,
        deserialize_f64 => float,
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let Some(text) = self.untyped_text() else {
            return self.deserialize_any(visitor);
        };
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let items = items.map(|item| SettingValue::UntypedText(Secret::new(item)));
        ValueDeserializer(&SettingValue::List(items.collect())).deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        match self.0 {
            SettingValue::UntypedText(text) | SettingValue::Text(text) => {
                let variant: StrDeserializer<'_, DeserializeError> =
                    text.expose().trim().into_deserializer();
                variant.deserialize_enum(name, variants, visitor)
            }
            SettingValue::Table(entries) => {
                let table = MapAccessDeserializer::new(table_access(entries));
                table.deserialize_enum(name, variants, visitor)
            }
            _ => Err(DeserializeError::expected_one_of(variants)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct map struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, DeserializeError> for ValueDeserializer<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn table_access<'de>(
    entries: &[(String, SettingValue)],
) -> impl MapAccess<'de, Error = DeserializeError> {
    MapDeserializer::new(
        entries.iter().map(|(name, value)| (name.as_str(), ValueDeserializer(value))),
    )
}
