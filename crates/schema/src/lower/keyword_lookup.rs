//! Fast access to the keywords of a schema.
//!
//! A schema has a handful of keywords, and hashing a key takes longer than comparing all of them.

use serde_json::Value;

use crate::JsonObject;

/// Larger objects are looked up by hash.
const MAX_LINEAR_SEARCH: usize = 16;

/// Access to the keywords of a schema, or to its properties by name; a value that is not an object has none.
pub(crate) trait KeywordLookup {
    /// The object itself.
    fn members(&self) -> Option<&JsonObject>;

    /// The object itself, mutable.
    fn members_mut(&mut self) -> Option<&mut JsonObject>;

    /// The value of a keyword.
    #[inline]
    fn keyword(&self, keyword: &str) -> Option<&Value> {
        let members = self.members()?;
        if members.len() > MAX_LINEAR_SEARCH {
            return members.get(keyword);
        }
        members.iter().find_map(|(key, value)| (key == keyword).then_some(value))
    }

    /// The value of a keyword, mutable.
    #[inline]
    fn keyword_mut(&mut self, keyword: &str) -> Option<&mut Value> {
        let members = self.members_mut()?;
        if members.len() > MAX_LINEAR_SEARCH {
            return members.get_mut(keyword);
        }
        members.iter_mut().find_map(|(key, value)| (key == keyword).then_some(value))
    }

    /// Returns true if the keyword is present.
    #[inline]
    fn has_keyword(&self, keyword: &str) -> bool {
        self.keyword(keyword).is_some()
    }

    /// Returns true if any of the keywords is present.
    fn has_any_keyword(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.has_keyword(keyword))
    }

    /// Returns true if the keyword is present and `false`.
    fn is_false(&self, keyword: &str) -> bool {
        self.keyword(keyword) == Some(&Value::Bool(false))
    }

    /// The value of a keyword that holds text.
    #[inline]
    fn text(&self, keyword: &str) -> Option<&str> {
        self.keyword(keyword)?.as_str()
    }

    /// The value of a keyword that holds a list.
    #[inline]
    fn list(&self, keyword: &str) -> Option<&[Value]> {
        self.keyword(keyword)?.as_array().map(Vec::as_slice)
    }

    /// The value of a keyword that holds an object.
    #[inline]
    fn object(&self, keyword: &str) -> Option<&JsonObject> {
        self.keyword(keyword)?.as_object()
    }

    /// The names that `required` lists.
    fn required_names(&self) -> impl Iterator<Item = &str> {
        self.list("required").into_iter().flatten().filter_map(Value::as_str)
    }

    /// Removes a keyword; the others keep their order.
    #[inline]
    fn remove_keyword(&mut self, keyword: &str) -> Option<Value> {
        self.keyword(keyword)?;
        self.members_mut()?.shift_remove(keyword)
    }

    /// Removes a keyword that holds an object; an empty one if there is none.
    fn take_object(&mut self, keyword: &str) -> JsonObject {
        match self.remove_keyword(keyword) {
            Some(Value::Object(members)) => members,
            _ => JsonObject::new(),
        }
    }

    /// Sets a keyword, in place if it is present; returns the previous value.
    #[inline]
    fn set_keyword(&mut self, keyword: &str, value: Value) -> Option<Value> {
        match self.keyword_mut(keyword) {
            Some(current) => Some(std::mem::replace(current, value)),
            None => self.members_mut()?.insert(keyword.to_owned(), value),
        }
    }
}

impl KeywordLookup for JsonObject {
    #[inline]
    fn members(&self) -> Option<&JsonObject> {
        Some(self)
    }

    #[inline]
    fn members_mut(&mut self) -> Option<&mut JsonObject> {
        Some(self)
    }
}

impl KeywordLookup for Value {
    #[inline]
    fn members(&self) -> Option<&JsonObject> {
        self.as_object()
    }

    #[inline]
    fn members_mut(&mut self) -> Option<&mut JsonObject> {
        self.as_object_mut()
    }
}
