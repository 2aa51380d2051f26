//! Keyword in, what a schema says under it out.
//!
//! A schema has a handful of keywords, and hashing one takes longer than looking through all of them.

use serde_json::{Map, Value};

/// More members are not looked through.
const MAX_LINEAR_SEARCH: usize = 16;

/// A schema, asked by keyword; or its properties, by name.
pub(crate) trait KeywordLookup {
    /// What stands under a keyword.
    fn keyword(&self, keyword: &str) -> Option<&Value>;

    /// What stands under a keyword, to be changed.
    fn keyword_mut(&mut self, keyword: &str) -> Option<&mut Value>;

    /// Whether there is a keyword.
    #[inline]
    fn has_keyword(&self, keyword: &str) -> bool {
        self.keyword(keyword).is_some()
    }
}

/// A schema that is no boolean.
pub(crate) trait KeywordLookupMut: KeywordLookup {
    /// Takes a keyword out; the others keep their order.
    fn remove_keyword(&mut self, keyword: &str) -> Option<Value>;

    /// Puts a value under a keyword, where it stands already if it does; returns what stood there.
    fn set_keyword(&mut self, keyword: &str, value: Value) -> Option<Value>;
}

impl KeywordLookup for Map<String, Value> {
    #[inline]
    fn keyword(&self, keyword: &str) -> Option<&Value> {
        if self.len() > MAX_LINEAR_SEARCH {
            return self.get(keyword);
        }
        let mut members = self.iter();
        members.find_map(|(key, value)| (key == keyword).then_some(value))
    }

    #[inline]
    fn keyword_mut(&mut self, keyword: &str) -> Option<&mut Value> {
        if self.len() > MAX_LINEAR_SEARCH {
            return self.get_mut(keyword);
        }
        let mut members = self.iter_mut();
        members.find_map(|(key, value)| (key == keyword).then_some(value))
    }
}

impl KeywordLookupMut for Map<String, Value> {
    #[inline]
    fn remove_keyword(&mut self, keyword: &str) -> Option<Value> {
        if self.has_keyword(keyword) {
            self.shift_remove(keyword)
        } else {
            None
        }
    }

    #[inline]
    fn set_keyword(&mut self, keyword: &str, value: Value) -> Option<Value> {
        match self.keyword_mut(keyword) {
            Some(place) => Some(std::mem::replace(place, value)),
            None => self.insert(keyword.to_owned(), value),
        }
    }
}

impl KeywordLookup for Value {
    #[inline]
    fn keyword(&self, keyword: &str) -> Option<&Value> {
        self.as_object()?.keyword(keyword)
    }

    #[inline]
    fn keyword_mut(&mut self, keyword: &str) -> Option<&mut Value> {
        self.as_object_mut()?.keyword_mut(keyword)
    }
}
