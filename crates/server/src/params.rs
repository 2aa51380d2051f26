//! The values of a path in, a type of the author's out.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor,
    value::StrDeserializer,
};
use serde::forward_to_deserialize_any;

/// Reads values: one into a text or a number; several into a tuple, in the order of the path, or into a struct or a map.
pub(crate) fn read<T: DeserializeOwned>(
    params: &[(String, String)],
) -> Result<T, serde::de::value::Error> {
    T::deserialize(Values::new(params))
}

/// Checks that values for these parameters could be read into the type.
///
/// # Errors
///
/// No values can be: the type wants other parameters, or another number of them.
pub(crate) fn check<T: DeserializeOwned>(names: &[String]) -> Result<(), String> {
    for sample in SAMPLES {
        let params: Vec<_> = names
            .iter()
            .map(|name| (name.clone(), sample.to_owned()))
            .collect();
        match T::deserialize(Values::new(&params)) {
            Ok(_) => return Ok(()),
            Err(Probe::Shape(reason)) => return Err(reason),
            Err(Probe::Value) => {}
        }
    }
    // A type that is particular about its text can only be asked with the real one.
    Ok(())
}

/// Texts that stand in for the values of a path when a type is checked.
const SAMPLES: [&str; 3] = ["1", "a", "00000000-0000-0000-0000-000000000000"];

/// Why made-up values could not be read.
#[derive(Debug)]
enum Probe {
    /// No others could be, either.
    Shape(String),
    /// Others might be.
    Value,
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(reason) => f.write_str(reason),
            Self::Value => f.write_str("the value does not fit"),
        }
    }
}

impl std::error::Error for Probe {}

impl Error for Probe {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Value
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let got = match unexpected {
            Unexpected::Str(_) => "a text".to_owned(),
            Unexpected::Map => "parameters by name".to_owned(),
            Unexpected::Seq => "several parameters".to_owned(),
            other => other.to_string(),
        };
        Self::Shape(format!("it wants {expected}, and the path has {got}"))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::Shape(format!("it wants {expected}, and the path has {length}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Shape(format!("it wants `{field}`, which the path does not have"))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::Shape(format!("it has no field for `{field}`"))
    }
}

/// How a value of the path is read, and what a wrong number of them is.
trait ReadError: Error {
    /// Whether the values are made up.
    const PROBES: bool;

    fn shape(reason: String) -> Self;
}

impl ReadError for Probe {
    const PROBES: bool = true;

    fn shape(reason: String) -> Self {
        Self::Shape(reason)
    }
}

impl ReadError for serde::de::value::Error {
    const PROBES: bool = false;

    fn shape(reason: String) -> Self {
        Self::custom(reason)
    }
}

struct Values<'a, E> {
    params: &'a [(String, String)],
    error: PhantomData<E>,
}

impl<'a, E: ReadError> Values<'a, E> {
    fn new(params: &'a [(String, String)]) -> Self {
        Self {
            params,
            error: PhantomData,
        }
    }

    fn only(self) -> Result<Value<'a, E>, E> {
        match self.params {
            [(_, value)] => Ok(Value::new(value)),
            several => Err(E::shape(format!(
                "it wants one value, and the path has {}: read them into a tuple or a struct",
                several.len()
            ))),
        }
    }

    /// The values in the order of the path.
    fn in_order<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let values = self.params.iter();
        let values = values.map(|(_, value)| Value::<E>::new(value));
        visitor.visit_seq(SeqDeserializer::new(values))
    }
}

macro_rules! one {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
                self.only()?.$method(visitor)
            }
        )*
    };
}

impl<'de, E: ReadError> Deserializer<'de> for Values<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let pairs = self.params.iter();
        let pairs = pairs.map(|(name, value)| (name.as_str(), Value::<E>::new(value)));
        visitor.visit_map(MapDeserializer::new(pairs))
    }

    one!(deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
         deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
         deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string);

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        self.in_order(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, E> {
        match self.params.len() {
            there if there == len => self.in_order(visitor),
            there => Err(E::shape(format!(
                "it wants {len} values, and the path has {there}"
            ))),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, E> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        self.only()?.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bytes byte_buf option unit unit_struct map struct identifier ignored_any i128 u128
    }
}

/// One value: a text, or what its type reads from it.
struct Value<'a, E> {
    text: &'a str,
    error: PhantomData<E>,
}

impl<'a, E> Value<'a, E> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            error: PhantomData,
        }
    }
}

impl<'de, 'a, E: ReadError> IntoDeserializer<'de, E> for Value<'a, E> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $sample:literal)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
                let text = if E::PROBES { $sample } else { self.text };
                let value = text.parse();
                visitor.$visit(value.map_err(|error| E::custom(format!("`{text}`: {error}")))?)
            }
        )*
    };
}

impl<'de, E: ReadError> Deserializer<'de> for Value<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str(self.text)
    }

    parsed!(deserialize_bool visit_bool "true"
            deserialize_i8 visit_i8 "1" deserialize_i16 visit_i16 "1"
            deserialize_i32 visit_i32 "1" deserialize_i64 visit_i64 "1"
            deserialize_u8 visit_u8 "1" deserialize_u16 visit_u16 "1"
            deserialize_u32 visit_u32 "1" deserialize_u64 visit_u64 "1"
            deserialize_f32 visit_f32 "1" deserialize_f64 visit_f64 "1");

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        let text = match variants.first() {
            Some(first) if E::PROBES => first,
            _ => self.text,
        };
        StrDeserializer::new(text).deserialize_enum(name, variants, visitor)
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

    #[test]
    fn several_values_are_a_tuple_in_the_order_of_the_path() {
        #[derive(serde::Deserialize, Debug, PartialEq)]
        struct Spot(String, u8);
        let both = [pair("room", "lobby"), pair("floor", "3")];
        let place: (String, u8) = read(&both).unwrap();
        assert_eq!(place, ("lobby".to_owned(), 3));
        assert_eq!(read::<Spot>(&both).unwrap(), Spot("lobby".to_owned(), 3));
        assert_eq!(read::<Vec<String>>(&both).unwrap(), ["lobby", "3"]);
        assert_eq!(read::<(u8,)>(&both[1..]).unwrap(), (3,));
        assert!(read::<(String,)>(&both).is_err());
        assert!(read::<(String, String, String)>(&both).is_err());
    }

    #[test]
    fn a_type_that_no_values_of_the_path_fit_is_found_without_any() {
        #[derive(serde::Deserialize)]
        #[expect(dead_code, reason = "only its shape matters")]
        struct Wide {
            room: Option<Kind>,
            floor: std::net::IpAddr,
            #[serde(default)]
            door: bool,
        }
        #[derive(serde::Deserialize)]
        enum Kind {
            Kitchen,
        }
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only its shape matters")]
        struct Exact {
            room: (),
        }
        let both = ["room".to_owned(), "floor".to_owned()];
        assert_eq!(check::<(String, bool)>(&both), Ok(()));
        assert_eq!(check::<(char, std::num::NonZeroU8)>(&both), Ok(()));
        assert_eq!(check::<Place>(&both), Ok(()));
        assert_eq!(check::<Wide>(&both), Ok(()));
        assert_eq!(
            check::<std::collections::HashMap<String, String>>(&both),
            Ok(())
        );
        assert_eq!(check::<Kind>(&both[..1]), Ok(()));
        assert_eq!(check::<std::net::IpAddr>(&both[..1]), Ok(()));
        assert_eq!(
            check::<Place>(&both[..1]).unwrap_err(),
            "it wants `floor`, which the path does not have"
        );
        assert_eq!(
            check::<(String, String, String)>(&both).unwrap_err(),
            "it wants 3 values, and the path has 2"
        );
        assert!(check::<String>(&both).unwrap_err().contains("one value"));
        assert!(check::<Exact>(&both).is_err());
        assert!(check::<(String, Vec<String>)>(&both).is_err());
        let _ = Kind::Kitchen;
    }
}
