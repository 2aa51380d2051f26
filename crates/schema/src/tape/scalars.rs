//! Reads an object whose members are scalars straight from its text.
//!
//! It accepts less than a tape does and reads the same values: whatever it rejects is parsed into a tape.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::{InputLimits, count_parse};

/// Reads an object of scalars into `visitor`, which must reject unknown and repeated keys; `None` if the text is anything
/// else. The visitor may have read some of its members then.
pub fn read_scalar_members<'t, V: Visitor<'t>>(
    text: &'t str,
    limits: &InputLimits,
    visitor: V,
) -> Option<V::Value> {
    if text.len() > limits.bytes || limits.depth == 0 {
        return None;
    }
    count_parse();
    let mut source = serde_json::Deserializer::from_str(text);
    let value = (&mut source).deserialize_map(MembersVisitor(visitor)).ok()?;
    source.end().ok()?;
    Some(value)
}

/// Visits an object, and nothing else.
struct MembersVisitor<V>(V);

impl<'t, V: Visitor<'t>> Visitor<'t> for MembersVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(ScalarMembers(members))
    }
}

struct ScalarMembers<A>(A);

impl<'t, A: MapAccess<'t>> MapAccess<'t> for ScalarMembers<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Scalar(seed))
    }
}

/// A seed, deserializer or visitor that sees only scalars.
struct Scalar<T>(T);

impl<'t, S: DeserializeSeed<'t>> DeserializeSeed<'t> for Scalar<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'t>>(self, source: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Scalar(source))
    }
}

macro_rules! forward {
    ($text:lifetime: $($method:ident)+) => {$(
        fn $method<V: Visitor<$text>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        }
    )+};
}

macro_rules! reject {
    ($text:lifetime: $($method:ident($($argument:ty),*))+) => {$(
        fn $method<V: Visitor<$text>>(self, $(_: $argument,)* _: V) -> Result<V::Value, D::Error> {
            Err(D::Error::custom("not a scalar"))
        }
    )+};
}

impl<'t, D: Deserializer<'t>> Deserializer<'t> for Scalar<D> {
    type Error = D::Error;

    forward! {
        't: deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f64 deserialize_char deserialize_str deserialize_string
    }

    fn deserialize_f32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, D::Error> {
        // A tape has doubles, and `f32` is rounded from them.
        self.0.deserialize_f64(visitor)
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Scalar(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    reject! {
        't: deserialize_any() deserialize_i128() deserialize_u128() deserialize_bytes() deserialize_byte_buf()
        deserialize_unit() deserialize_seq() deserialize_map() deserialize_identifier() deserialize_ignored_any()
        deserialize_unit_struct(&'static str) deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)
        deserialize_struct(&'static str, &'static [&'static str])
        deserialize_enum(&'static str, &'static [&'static str])
    }
}

/// Visits an option.
impl<'t, V: Visitor<'t>> Visitor<'t> for Scalar<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_some<D: Deserializer<'t>>(self, source: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Scalar(source))
    }
}
