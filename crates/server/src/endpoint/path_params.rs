//! Deserializes the parameters of a path into a type of the endpoint's author.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor,
    value::StrDeserializer,
};
use serde::forward_to_deserialize_any;

/// Deserializes parameters: one into a string or a number; several into a tuple in path order, a struct or a map.
pub(crate) fn deserialize_params<T: DeserializeOwned>(
    params: &[(String, String)],
) -> Result<T, serde::de::value::Error> {
    T::deserialize(ParamsDeserializer::new(params))
}

/// Checks whether any values of these parameters could be deserialized into the type.
///
/// # Errors
///
/// When no values can: the type wants other parameters, or another number of them.
pub(crate) fn check_params_type<T: DeserializeOwned>(names: &[String]) -> Result<(), String> {
    for sample in PROBE_VALUES {
        let params: Vec<_> = names.iter().map(|name| (name.clone(), sample.to_owned())).collect();
        match T::deserialize(ParamsDeserializer::new(&params)) {
            Ok(_) => return Ok(()),
            Err(ProbeError::WrongShape(reason)) => return Err(reason),
            Err(ProbeError::WrongValue) => {}
        }
    }
    // A type with a format of its own can only be checked with real values.
    Ok(())
}

/// Sample values for checking a type.
const PROBE_VALUES: [&str; 3] = ["1", "a", "00000000-0000-0000-0000-000000000000"];

/// Why sample values could not be deserialized.
#[derive(Debug)]
enum ProbeError {
    /// No values of these parameters fit the type.
    WrongShape(String),
    /// Other values might fit.
    WrongValue,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongShape(reason) => f.write_str(reason),
            Self::WrongValue => f.write_str("the value does not fit"),
        }
    }
}

impl std::error::Error for ProbeError {}

impl Error for ProbeError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::WrongValue
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let got = match unexpected {
            Unexpected::Str(_) => "a text".to_owned(),
            Unexpected::Map => "parameters by name".to_owned(),
            Unexpected::Seq => "several parameters".to_owned(),
            other => other.to_string(),
        };
        Self::WrongShape(format!("it wants {expected}, and the path has {got}"))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::WrongShape(format!("it wants {expected}, and the path has {length}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::WrongShape(format!("it wants `{field}`, which the path does not have"))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::WrongShape(format!("it has no field for `{field}`"))
    }
}

/// The error type decides whether sample values are checked or real ones deserialized.
trait ParamError: Error {
    /// True if the values are samples.
    const IS_PROBE: bool;

    fn wrong_shape(reason: String) -> Self;
}

impl ParamError for ProbeError {
    const IS_PROBE: bool = true;

    fn wrong_shape(reason: String) -> Self {
        Self::WrongShape(reason)
    }
}

impl ParamError for serde::de::value::Error {
    const IS_PROBE: bool = false;

    fn wrong_shape(reason: String) -> Self {
        Self::custom(reason)
    }
}

struct ParamsDeserializer<'a, E> {
    params: &'a [(String, String)],
    error: PhantomData<E>,
}

impl<'a, E: ParamError> ParamsDeserializer<'a, E> {
    fn new(params: &'a [(String, String)]) -> Self {
        Self { params, error: PhantomData }
    }

    fn single(self) -> Result<ValueDeserializer<'a, E>, E> {
        match self.params {
            [(_, value)] => Ok(ValueDeserializer::new(value)),
            several => Err(E::wrong_shape(format!(
                "it wants one value, and the path has {}: read them into a tuple or a struct",
                several.len()
            ))),
        }
    }

    /// Visits the values as a sequence in path order.
    fn visit_in_order<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let values = self.params.iter();
        let values = values.map(|(_, value)| ValueDeserializer::<E>::new(value));
        visitor.visit_seq(SeqDeserializer::new(values))
    }
}

macro_rules! forward_to_single_value {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
                self.single()?.$method(visitor)
            }
        )*
    };
}

impl<'de, E: ParamError> Deserializer<'de> for ParamsDeserializer<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let pairs = self.params.iter();
        let pairs = pairs.map(|(name, value)| (name.as_str(), ValueDeserializer::<E>::new(value)));
        visitor.visit_map(MapDeserializer::new(pairs))
    }

    forward_to_single_value!(deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
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
        self.visit_in_order(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, E> {
        match self.params.len() {
            there if there == len => self.visit_in_order(visitor),
            there => {
                Err(E::wrong_shape(format!("it wants {len} values, and the path has {there}")))
            }
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
        self.single()?.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bytes byte_buf option unit unit_struct map struct identifier ignored_any i128 u128
    }
}

/// Deserializes one value: as a string, or parsed as the requested type.
struct ValueDeserializer<'a, E> {
    text: &'a str,
    error: PhantomData<E>,
}

impl<'a, E> ValueDeserializer<'a, E> {
    fn new(text: &'a str) -> Self {
        Self { text, error: PhantomData }
    }
}

impl<'de, 'a, E: ParamError> IntoDeserializer<'de, E> for ValueDeserializer<'a, E> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parse_and_visit {
    ($($method:ident $visit:ident $sample:literal)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
                let text = if E::IS_PROBE { $sample } else { self.text };
                let value = text.parse();
                visitor.$visit(value.map_err(|error| E::custom(format!("`{text}`: {error}")))?)
            }
        )*
    };
}

impl<'de, E: ParamError> Deserializer<'de> for ValueDeserializer<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str(self.text)
    }

    parse_and_visit!(deserialize_bool visit_bool "true"
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
            Some(first) if E::IS_PROBE => first,
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
        assert_eq!(deserialize_params::<String>(&[pair("room", "7")]).unwrap(), "7");
        assert_eq!(deserialize_params::<u64>(&[pair("room", "7")]).unwrap(), 7);
        let both = [pair("room", "lobby"), pair("floor", "3")];
        let place: Place = deserialize_params(&both).unwrap();
        assert_eq!((place.room.as_str(), place.floor), ("lobby", 3));
        assert!(deserialize_params::<String>(&both).is_err());
        assert!(deserialize_params::<u64>(&[pair("room", "seven")]).is_err());
    }

    #[test]
    fn several_values_are_a_tuple_in_the_order_of_the_path() {
        #[derive(serde::Deserialize, Debug, PartialEq)]
        struct Spot(String, u8);
        let both = [pair("room", "lobby"), pair("floor", "3")];
        let place: (String, u8) = deserialize_params(&both).unwrap();
        assert_eq!(place, ("lobby".to_owned(), 3));
        assert_eq!(deserialize_params::<Spot>(&both).unwrap(), Spot("lobby".to_owned(), 3));
        assert_eq!(deserialize_params::<Vec<String>>(&both).unwrap(), ["lobby", "3"]);
        assert_eq!(deserialize_params::<(u8,)>(&both[1..]).unwrap(), (3,));
        assert!(deserialize_params::<(String,)>(&both).is_err());
        assert!(deserialize_params::<(String, String, String)>(&both).is_err());
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
        assert_eq!(check_params_type::<(String, bool)>(&both), Ok(()));
        assert_eq!(check_params_type::<(char, std::num::NonZeroU8)>(&both), Ok(()));
        assert_eq!(check_params_type::<Place>(&both), Ok(()));
        assert_eq!(check_params_type::<Wide>(&both), Ok(()));
        assert_eq!(check_params_type::<std::collections::HashMap<String, String>>(&both), Ok(()));
        assert_eq!(check_params_type::<Kind>(&both[..1]), Ok(()));
        assert_eq!(check_params_type::<std::net::IpAddr>(&both[..1]), Ok(()));
        assert_eq!(
            check_params_type::<Place>(&both[..1]).unwrap_err(),
            "it wants `floor`, which the path does not have"
        );
        assert_eq!(
            check_params_type::<(String, String, String)>(&both).unwrap_err(),
            "it wants 3 values, and the path has 2"
        );
        assert!(check_params_type::<String>(&both).unwrap_err().contains("one value"));
        assert!(check_params_type::<Exact>(&both).is_err());
        assert!(check_params_type::<(String, Vec<String>)>(&both).is_err());
        let _ = Kind::Kitchen;
    }
}
