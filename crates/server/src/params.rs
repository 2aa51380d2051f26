//! The values of a path in, a type of the author's out.

use serde::de::value::{Error, MapDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor, value::StrDeserializer,
};
use serde::forward_to_deserialize_any;

/// Reads values: one into a text or a number, several into a struct or a map.
pub(crate) fn read<T: DeserializeOwned>(params: &[(String, String)]) -> Result<T, Error> {
    T::deserialize(Values(params))
}

#[derive(Clone, Copy)]
struct Values<'a>(&'a [(String, String)]);

impl<'a> Values<'a> {
    fn only(self) -> Result<Value<'a>, Error> {
        match self.0 {
            [(_, value)] => Ok(Value(value)),
            _ => Err(Error::custom(
                "the path has several parameters: read them into a struct",
            )),
        }
    }
}

macro_rules! one {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.only()?.$method(visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Values<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let pairs = self.0.iter();
        let pairs = pairs.map(|(name, value)| (name.as_str(), Value(value)));
        visitor.visit_map(MapDeserializer::new(pairs))
    }

    one!(deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
         deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
         deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string);

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct enum identifier
        ignored_any i128 u128
    }
}

/// One value: a text, or what its type reads from it.
#[derive(Clone, Copy)]
struct Value<'a>(&'a str);

impl<'de, 'a> IntoDeserializer<'de> for Value<'a> {
    type Deserializer = Value<'a>;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                let value = self.0.parse();
                visitor.$visit(value.map_err(|error| Error::custom(format!("`{}`: {error}", self.0)))?)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    parsed!(deserialize_bool visit_bool deserialize_i8 visit_i8 deserialize_i16 visit_i16
            deserialize_i32 visit_i32 deserialize_i64 visit_i64 deserialize_u8 visit_u8
            deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
            deserialize_f32 visit_f32 deserialize_f64 visit_f64);

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        StrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any i128 u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Place {
        room: String,
        floor: u8,
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn one_value_is_a_text_or_a_number_and_several_are_a_struct() {
        assert_eq!(read::<String>(&[pair("room", "7")]).unwrap(), "7");
        assert_eq!(read::<u64>(&[pair("room", "7")]).unwrap(), 7);
        let both = [pair("room", "lobby"), pair("floor", "3")];
        let place: Place = read(&both).unwrap();
        assert_eq!((place.room.as_str(), place.floor), ("lobby", 3));
        assert!(read::<String>(&both).is_err());
        assert!(read::<u64>(&[pair("room", "seven")]).is_err());
    }
}
