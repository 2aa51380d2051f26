//! A key in, a typed value out.
//!
//! A key that is set reads as its value, any other as the section of the keys below it.

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
use super::{Settings, join, variable};

mod fault;
mod typed;

use fault::Fault;
use typed::Typed;

/// How many sections may lie within each other: a type may be recursive, and the stack is not endless.
const DEEP: usize = 64;

pub(super) fn read<T: DeserializeOwned>(
    settings: &Settings,
    key: String,
) -> Result<T, ConfigError> {
    let top = Place {
        settings,
        key,
        depth: 0,
    };
    top.read(PhantomData)
}

/// A key, whether it is set or not.
#[derive(Clone)]
struct Place<'s> {
    settings: &'s Settings,
    key: String,
    depth: usize,
}

impl<'s> Place<'s> {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S) -> Result<S::Value, ConfigError> {
        let read = match self.setting() {
            Some(setting) => seed.deserialize(Typed(&setting.value)),
            None => seed.deserialize(self),
        };
        read.map_err(|fault: Fault| fault.at(self))
    }

    fn setting(&self) -> Option<&'s Setting> {
        self.settings.setting(&self.key)
    }

    /// Where it is set, or the first of its section.
    fn origin(&self) -> Origin {
        let first = || {
            self.settings
                .under(&self.key)
                .map(|(_, first)| first)
                .next()
        };
        match self.setting().or_else(first) {
            Some(setting) => setting.origin.clone(),
            None => Origin::Environment {
                variable: variable(&self.key) + "_*",
            },
        }
    }

    fn below(&self, name: &str) -> Self {
        Self {
            settings: self.settings,
            key: join(&self.key, name),
            depth: self.depth + 1,
        }
    }

    /// Lists what lies directly below; of `fields`, it may be the environment alone that sets them.
    fn names(&self, fields: &[&'static str]) -> BTreeSet<String> {
        let within = match self.key.as_str() {
            "" => 0,
            key => key.len() + 1,
        };
        let below = self.settings.under(&self.key);
        let below = below.filter_map(|(key, _)| key.get(within..)?.split('.').next());
        let fields = fields.iter().copied();
        let set = fields.filter(|field| self.below(field).setting().is_some());
        let names = below.chain(set).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    }

    fn section(&self, fields: &[&'static str]) -> Result<Section<'s>, Fault> {
        let names = self.names(fields);
        if names.is_empty() {
            return Err(Fault::Absent);
        }
        if self.depth == DEEP {
            let problem = format!("expected at most {DEEP} sections within each other");
            return Err(Fault::Other(problem));
        }
        Ok(Section {
            parent: self.clone(),
            names: names.into_iter(),
            child: None,
        })
    }
}

/// A place that is not set itself.
impl<'de> Deserializer<'de> for &Place<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(self.section(&[])?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_map(self.section(fields)?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let section = MapAccessDeserializer::new(self.section(&[])?);
        section.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.names(&[]).is_empty() {
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

/// The keys below a place.
struct Section<'s> {
    parent: Place<'s>,
    names: btree_set::IntoIter<String>,
    child: Option<Place<'s>>,
}

impl<'de> MapAccess<'de> for Section<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some(name) = self.names.next() else {
            return Ok(None);
        };
        let child = self.parent.below(&name);
        let key = seed.deserialize(name.as_str().into_deserializer());
        let key = key.map_err(|fault: Fault| fault.at(&child))?;
        self.child = Some(child);
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        match self.child.take() {
            Some(child) => Ok(child.read(seed)?),
            None => Err(Fault::Absent),
        }
    }
}
