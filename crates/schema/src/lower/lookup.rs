//! Keyword in, what a schema says under it out.
//!
//! A schema has a handful of keywords, and hashing one takes longer than looking through all of them.

use serde_json::{Map, Value};

/// More members are not looked through.
const FEW: usize = 16;

/// A schema, asked by keyword; or its properties, by name.
pub(crate) trait Lookup {
    /// What stands under a keyword.
    fn find(&self, keyword: &str) -> Option<&Value>;

    /// What stands under a keyword, to be changed.
    fn find_mut(&mut self, keyword: &str) -> Option<&mut Value>;

    /// Whether there is a keyword.
    #[inline]
    fn has(&self, keyword: &str) -> bool {
        self.find(keyword).is_some()
    }
}

/// A schema that is no boolean.
pub(crate) trait LookupMut: Lookup {
    /// Takes a keyword out; the others keep their order.
    fn take_out(&mut self, keyword: &str) -> Option<Value>;

    /// Puts a value under a keyword, where it stands already if it does; returns what stood there.
    fn put(&mut self, keyword: &str, value: Value) -> Option<Value>;
}

impl Lookup for Map<String, Value> {
    #[inline]
    fn find(&self, keyword: &str) -> Option<&Value> {
        if self.len() > FEW {
            return self.get(keyword);
        }
        let mut members = self.iter();
        members.find_map(|(key, value)| (key == keyword).then_some(value))
    }

    #[inline]
    fn find_mut(&mut self, keyword: &str) -> Option<&mut Value> {
        if self.len() > FEW {
            return self.get_mut(keyword);
        }
        let mut members = self.iter_mut();
        members.find_map(|(key, value)| (key == keyword).then_some(value))
    }
}

impl LookupMut for Map<String, Value> {
    #[inline]
    fn take_out(&mut self, keyword: &str) -> Option<Value> {
        if self.has(keyword) {
            self.shift_remove(keyword)
        } else {
            None
        }
    }

    #[inline]
    fn put(&mut self, keyword: &str, value: Value) -> Option<Value> {
        match self.find_mut(keyword) {
            Some(place) => Some(std::mem::replace(place, value)),
            None => self.insert(keyword.to_owned(), value),
        }
    }
}

impl Lookup for Value {
    #[inline]
    fn find(&self, keyword: &str) -> Option<&Value> {
        self.as_object()?.find(keyword)
    }

    #[inline]
    fn find_mut(&mut self, keyword: &str) -> Option<&mut Value> {
        self.as_object_mut()?.find_mut(keyword)
    }
}
