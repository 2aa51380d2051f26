//! serde's access to the arrays, objects and keys of a tape.

use serde::de::{
    DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
    value::BorrowedStrDeserializer,
};

use super::{Children, Members, Node, ReadError};

/// The elements of an array; errors get the index of the element.
pub(super) struct Elements<'t> {
    remaining: Children<'t>,
    next_index: usize,
}

impl<'t> Elements<'t> {
    #[inline]
    pub(super) fn new(remaining: Children<'t>) -> Self {
        Self { remaining, next_index: 0 }
    }

    /// Rejects elements that were not read.
    #[inline]
    pub(super) fn expect_end(mut self) -> Result<(), ReadError> {
        match self.remaining.next() {
            None => Ok(()),
            Some(_) => Err(ReadError::custom(format_args!(
                "expected at most {} elements",
                self.next_index
            ))),
        }
    }
}

impl<'t> SeqAccess<'t> for Elements<'t> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let Some(node) = self.remaining.next() else {
            return Ok(None);
        };
        let at = self.next_index;
        self.next_index += 1;
        seed.deserialize(node).map(Some).map_err(|error| error.prefix_pointer(at))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.remaining.remaining as usize)
    }
}

/// The members of an object; errors get the name of the member.
pub(super) struct Fields<'t> {
    remaining: Members<'t>,
    pending_value: Option<(&'t str, Node<'t>)>,
    deny_unknown: bool,
}

impl<'t> Fields<'t> {
    #[inline]
    pub(super) fn new(remaining: Members<'t>, deny_unknown: bool) -> Self {
        Self { remaining, pending_value: None, deny_unknown }
    }

    /// Rejects members that were not read.
    #[inline]
    pub(super) fn expect_end(mut self) -> Result<(), ReadError> {
        match self.remaining.next() {
            None => Ok(()),
            Some((key, _)) => Err(ReadError::custom("unknown argument").prefix_pointer(key)),
        }
    }
}

impl<'t> MapAccess<'t> for Fields<'t> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        self.pending_value = self.remaining.next();
        let Some((name, _)) = self.pending_value else {
            return Ok(None);
        };
        seed.deserialize(Key { name, deny_unknown: self.deny_unknown })
            .map(Some)
            .map_err(|error| error.prefix_pointer(name))
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let Some((name, node)) = self.pending_value.take() else {
            return Err(ReadError::custom("a value was asked for before its key"));
        };
        seed.deserialize(node).map_err(|error| error.prefix_pointer(name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.remaining.0.remaining as usize / 2)
    }
}

/// A member's name; also read as a number or boolean, for maps with such keys.
struct Key<'t> {
    name: &'t str,
    deny_unknown: bool,
}

macro_rules! spelled {
    ($reader:lifetime: $($method:ident $visit:ident $kind:ty,)+) => {$(
        fn $method<V: Visitor<$reader>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.name.parse::<$kind>() {
                // Only the canonical form: `+1` and `01` would be other names for `1`.
                Ok(value) if value.to_string() == self.name => visitor.$visit(value),
                _ => visitor.visit_borrowed_str(self.name),
            }
        }
    )+};
}

impl<'t> Deserializer<'t> for Key<'t> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_borrowed_str(self.name)
    }

    fn deserialize_identifier<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        // A struct with a flattened field asks for a map and then for field names, and ignores unknown names.
        if self.deny_unknown {
            return Err(ReadError::custom("a flattened struct cannot be read strictly"));
        }
        visitor.visit_borrowed_str(self.name)
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.name))
    }

    spelled! {
        't:
        deserialize_bool visit_bool bool,
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_i128 visit_i128 i128,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_u128 visit_u128 u128,
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'t>>
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct ignored_any
    }
}
