//! serde's `Deserializer` for a tape.
//!
//! serde's derive accepts more than a schema: a struct from an array, a unit variant from `{"x":null}`, and unknown fields.
//! All of these are rejected here, so that the types accept exactly what the schema accepts.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, VariantAccess, Visitor,
    value::BorrowedStrDeserializer,
};

use super::{
    Item, Node, ReadError,
    access::{Elements, Fields},
};

macro_rules! forward_to_item {
    ($reader:lifetime: $($method:ident($($argument:ty),*))+) => {$(
        fn $method<V: Visitor<$reader>>(
            self,
            $(_: $argument,)*
            visitor: V,
        ) -> Result<V::Value, ReadError> {
            self.deserialize_item(visitor)
        }
    )+};
}

impl<'t> Node<'t> {
    fn deserialize_item<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.item() {
            Item::Null => visitor.visit_unit(),
            Item::Bool(flag) => visitor.visit_bool(*flag),
            Item::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (.., Some(number)) => visitor.visit_f64(number),
                _ => Err(ReadError::custom("number out of range")),
            },
            Item::Text(text) => visitor.visit_borrowed_str(text),
            Item::Array { .. } => {
                let mut elements = Elements::new(self.children());
                let value = visitor.visit_seq(&mut elements)?;
                elements.expect_end()?;
                Ok(value)
            }
            Item::Object { .. } => self.deserialize_members(visitor, false),
        }
    }

    fn deserialize_members<V: Visitor<'t>>(
        self,
        visitor: V,
        guarded: bool,
    ) -> Result<V::Value, ReadError> {
        let Item::Object { .. } = self.item() else {
            return Err(ReadError::custom("expected an object"));
        };
        let mut fields = Fields::new(self.members(), guarded);
        let value = visitor.visit_map(&mut fields)?;
        fields.expect_end()?;
        Ok(value)
    }
}

impl<'t> Deserializer<'t> for Node<'t> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        // Untagged and internally tagged enums read from a copy of the object, which is not strict.
        if self.deny_unknown_fields && matches!(self.item(), Item::Object { .. }) {
            return Err(ReadError::custom("an object of any shape cannot be read strictly"));
        }
        self.deserialize_item(visitor)
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.item() {
            Item::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_members(visitor, false)
    }

    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_members(visitor, self.deny_unknown_fields)
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.item() {
            Item::Text(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            Item::Object { len: 1, .. } => visitor.visit_enum(self),
            _ => Err(ReadError::custom("expected a string, or an object with one key")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        // serde's derive calls this exactly when a struct meets an unknown field.
        if self.deny_unknown_fields {
            Err(ReadError::custom("unknown argument"))
        } else {
            visitor.visit_unit()
        }
    }

    forward_to_item! {
        't: deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32()
        deserialize_i64() deserialize_i128() deserialize_u8() deserialize_u16() deserialize_u32()
        deserialize_u64() deserialize_u128() deserialize_f32() deserialize_f64() deserialize_char()
        deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_unit() deserialize_seq() deserialize_identifier()
        deserialize_unit_struct(&'static str) deserialize_tuple(usize)
        deserialize_tuple_struct(&'static str, usize)
    }
}

/// An object with one key, read as an enum variant.
impl<'t> EnumAccess<'t> for Node<'t> {
    type Error = ReadError;
    type Variant = VariantPayload<'t>;

    fn variant_seed<V: DeserializeSeed<'t>>(
        self,
        seed: V,
    ) -> Result<(V::Value, VariantPayload<'t>), ReadError> {
        let key = self.at_index(self.index + 1);
        let payload = VariantPayload { name: key.text(), node: key.at_index(key.end_index()) };
        Ok((seed.deserialize(key)?, payload))
    }
}

/// The content of an enum variant.
pub struct VariantPayload<'t> {
    name: &'t str,
    node: Node<'t>,
}

impl<'t> VariantAccess<'t> for VariantPayload<'t> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Err(ReadError::custom("expected a string"))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'t>>(self, seed: T) -> Result<T::Value, ReadError> {
        seed.deserialize(self.node).map_err(|error| error.prefix_pointer(self.name))
    }

    fn tuple_variant<V: Visitor<'t>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.node.deserialize_item(visitor).map_err(|error| error.prefix_pointer(self.name))
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let read = self.node.deserialize_members(visitor, false);
        read.map_err(|error| error.prefix_pointer(self.name))
    }
}
