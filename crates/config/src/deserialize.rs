//! Deserializes a setting into a type.
//!
//! A key that is set is read as its value, any other as a section: the keys below it.

use std::collections::{BTreeSet, btree_set};
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::ConfigError;
use super::origin::Origin;
use super::value::Setting;
use super::{SettingsTable, env_var_name, join_key};

mod error;
mod value;

use error::DeserializeError;
use value::ValueDeserializer;

/// The maximum depth of sections: a type may be recursive, and the stack is finite.
const MAX_DEPTH: usize = 64;

pub(super) fn deserialize<T: DeserializeOwned>(
    settings: &SettingsTable,
    key: String,
) -> Result<T, ConfigError> {
    let root = KeyDeserializer { settings, key, depth: 0 };
    root.read(PhantomData)
}

/// A key, whether it is set or not.
#[derive(Clone)]
struct KeyDeserializer<'s> {
    settings: &'s SettingsTable,
    key: String,
    depth: usize,
}

impl<'s> KeyDeserializer<'s> {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S) -> Result<S::Value, ConfigError> {
        let value = match self.setting() {
            Some(setting) => seed.deserialize(ValueDeserializer(&setting.value)),
            None => seed.deserialize(self),
        };
        value.map_err(|error: DeserializeError| error.into_config_error(self))
    }

    fn setting(&self) -> Option<&'s Setting> {
        self.settings.get(&self.key)
    }

    /// Returns the origin of the key, or of the first key of its section.
    fn origin(&self) -> Origin {
        let first = || self.settings.iter_under(&self.key).map(|(_, first)| first).next();
        match self.setting().or_else(first) {
            Some(setting) => setting.origin.clone(),
            None => Origin::Environment { variable: env_var_name(&self.key) + "_*" },
        }
    }

    fn child(&self, name: &str) -> Self {
        Self { settings: self.settings, key: join_key(&self.key, name), depth: self.depth + 1 }
    }

    /// Returns the names directly below the key; `fields` are included if only the environment sets them.
    fn child_names(&self, fields: &[&'static str]) -> BTreeSet<String> {
        let prefix_len = match self.key.as_str() {
            "" => 0,
            key => key.len() + 1,
        };
        let below = self.settings.iter_under(&self.key);
        let below = below.filter_map(|(key, _)| key.get(prefix_len..)?.split('.').next());
        let fields = fields.iter().copied();
        let set = fields.filter(|field| self.child(field).setting().is_some());
        let names = below.chain(set).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    }

    fn section_access(
        &self,
        fields: &[&'static str],
    ) -> Result<SectionAccess<'s>, DeserializeError> {
        let names = self.child_names(fields);
        if names.is_empty() {
            return Err(DeserializeError::Missing);
        }
        if self.depth == MAX_DEPTH {
            let problem = format!("expected at most {MAX_DEPTH} sections within each other");
            return Err(DeserializeError::Other(problem));
        }
        Ok(SectionAccess { parent: self.clone(), names: names.into_iter(), child: None })
    }
}

/// Deserializes a key that is not set: as a section.
impl<'de> Deserializer<'de> for &KeyDeserializer<'_> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        visitor.visit_map(self.section_access(&[])?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_map(self.section_access(fields)?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        let section = MapAccessDeserializer::new(self.section_access(&[])?);
        section.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        if self.child_names(&[]).is_empty() {
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

/// The keys of a section, as a map.
struct SectionAccess<'s> {
    parent: KeyDeserializer<'s>,
    names: btree_set::IntoIter<String>,
    child: Option<KeyDeserializer<'s>>,
}

impl<'de> MapAccess<'de> for SectionAccess<'_> {
    type Error = DeserializeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeserializeError> {
        let Some(name) = self.names.next() else {
            return Ok(None);
        };
        let child = self.parent.child(&name);
        let key = seed.deserialize(name.as_str().into_deserializer());
        let key = key.map_err(|error: DeserializeError| error.into_config_error(&child))?;
        self.child = Some(child);
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, DeserializeError> {
        match self.child.take() {
            Some(child) => Ok(child.read(seed)?),
            None => Err(DeserializeError::Missing),
        }
    }
}
