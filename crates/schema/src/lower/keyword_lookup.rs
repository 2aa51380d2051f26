//! Fast access to the keywords of a schema.
//!
//! A schema has a handful of keywords, and hashing a key takes longer than comparing all of them.

use serde_json::{Map, Value};

/// Larger objects are looked up by hash.
const MAX_LINEAR_SEARCH: usize = 16;

/// Lookup of a keyword in a schema, or of a name in its properties.
pub(crate) trait KeywordLookup {
    /// The value of a keyword.
    fn keyword(&self, keyword: &str) -> Option<&Value>;

    /// The value of a keyword, mutable.
    fn keyword_mut(&mut self, keyword: &str) -> Option<&mut Value>;

    /// Returns true if the keyword is present.
    #[inline]
    fn has_keyword(&self, keyword: &str) -> bool {
        self.keyword(keyword).is_some()
    }
}

/// Changes to the keywords of an object schema.
pub(crate) trait KeywordLookupMut: KeywordLookup {
    /// Removes a keyword; the others keep their order.
    fn remove_keyword(&mut self, keyword: &str) -> Option<Value>;

    /// Sets a keyword, in place if it is present; returns the previous value.
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
        if self.has_keyword(keyword) { self.shift_remove(keyword) } else { None }
    }

    #[inline]
    fn set_keyword(&mut self, keyword: &str, value: Value) -> Option<Value> {
        match self.keyword_mut(keyword) {
            Some(current) => Some(std::mem::replace(current, value)),
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
