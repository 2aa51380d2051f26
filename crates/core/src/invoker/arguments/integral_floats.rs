//! Finds numbers such as `5.0`, which a JSON schema accepts as an integer and serde does not.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use toolwright_schema::Node;

/// Returns true if a document contains a float that is a whole number. Copies nothing.
pub(super) fn contains_integral_float(node: Node<'_>) -> bool {
    IntegralFloatFinder.deserialize(node).is_err()
}

/// Fails at the first float that is a whole number.
struct IntegralFloatFinder;

impl<'de> DeserializeSeed<'de> for IntegralFloatFinder {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for IntegralFloatFinder {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        match number.fract() == 0.0 {
            true => Err(E::custom("a whole number")),
            false => Ok(()),
        }
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(IntegralFloatFinder)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_key::<IgnoredAny>()?.is_some() {
            members.next_value_seed(IntegralFloatFinder)?;
        }
        Ok(())
    }
}
