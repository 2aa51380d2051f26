//! A value in, what its reader asks for out.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::fault::Fault;
use crate::config::secret::Secret;
use crate::config::value::Value;

/// A value being read; loose text becomes whatever is asked for, if it can.
#[derive(Clone, Copy)]
pub(super) struct Typed<'v>(pub(super) &'v Value);

impl<'v> Typed<'v> {
    fn loose(self) -> Option<&'v str> {
        match self.0 {
            Value::Loose(text) => Some(text.expose()),
            _ => None,
        }
    }

    fn whole<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let text = self.loose().unwrap_or_default().trim();
        if let Ok(number) = text.parse() {
            visitor.visit_u64(number)
        } else if let Ok(number) = text.parse() {
            visitor.visit_i64(number)
        } else {
            self.deserialize_any(visitor)
        }
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.loose().map(|text| text.trim().parse()) {
            Some(Ok(number)) => visitor.visit_f64(number),
            _ => self.deserialize_any(visitor),
        }
    }
}

fn truth(text: &str) -> Option<bool> {
    let is = |word: &&str| text.trim().eq_ignore_ascii_case(word);
    if ["true", "yes", "on", "1"].iter().any(is) {
        return Some(true);
    }
    let no = ["false", "no", "off", "0"].iter().any(is);
    no.then_some(false)
}

macro_rules! read_as {
    ($($method:ident => $reading:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.$reading(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Typed<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Loose(text) | Value::Text(text) => visitor.visit_str(text.expose()),
            Value::Bool(yes) => visitor.visit_bool(*yes),
            Value::Whole(number) => visitor.visit_i64(*number),
            Value::Number(number) => visitor.visit_f64(*number),
            Value::List(items) => {
                SeqDeserializer::new(items.iter().map(Typed)).deserialize_any(visitor)
            }
            Value::Table(entries) => visitor.visit_map(table(entries)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.loose().and_then(truth) {
            Some(yes) => visitor.visit_bool(yes),
            None => self.deserialize_any(visitor),
        }
    }

    read_as! {
        deserialize_i8 => whole,
        deserialize_i16 => whole,
        deserialize_i32 => whole,
        deserialize_i64 => whole,
        deserialize_i128 => whole,
        deserialize_u8 => whole,
        deserialize_u16 => whole,
        deserialize_u32 => whole,
        deserialize_u64 => whole,
        deserialize_u128 => whole,
        deserialize_f32 => number,
        deserialize_f64 => number,
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Some(text) = self.loose() else {
            return self.deserialize_any(visitor);
        };
        let items = text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty());
        let items = items.map(|item| Value::Loose(Secret::new(item)));
        Typed(&Value::List(items.collect())).deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Loose(text) | Value::Text(text) => {
                let variant: StrDeserializer<'_, Fault> = text.expose().trim().into_deserializer();
                variant.deserialize_enum(name, variants, visitor)
            }
            Value::Table(entries) => {
                let table = MapAccessDeserializer::new(table(entries));
                table.deserialize_enum(name, variants, visitor)
            }
            _ => Err(Fault::one_of(variants)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct map struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Fault> for Typed<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn table<'de>(entries: &[(String, Value)]) -> impl MapAccess<'de, Error = Fault> {
    MapDeserializer::new(
        entries
            .iter()
            .map(|(name, value)| (name.as_str(), Typed(value))),
    )
}
