//! The tape as a document that the `jsonschema` validator can read.

use std::borrow::Cow;

use jsonschema::{
    JsonType,
    json::{self, cmp},
};
use serde_json::{Number, Value};

use super::{Children, Item, Members, Node};

/// The tape as a JSON representation of the validator.
pub(crate) struct TapeJson;

impl json::Json for TapeJson {
    type Node<'a> = Node<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = ();

    // A lookup scans the members, so one pass over them replaces many lookups.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>((): &mut (), text: &str, with: impl FnOnce(Node<'_>) -> T) -> T {
        let items = [Item::Text(Cow::Borrowed(text))];
        with(Node { items: &items, index: 0, deny_unknown_fields: false })
    }
}

impl<'a> json::Node<'a, TapeJson> for Node<'a> {
    type Object = Self;
    type Array = Self;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Self> {
        matches!(self.item(), Item::Object { .. }).then_some(*self)
    }

    fn as_array(&self) -> Option<Self> {
        matches!(self.item(), Item::Array { .. }).then_some(*self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.item() {
            Item::Text(text) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<&'a Number> {
        match self.item() {
            Item::Number(number) => Some(number),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.item() {
            Item::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self.item(), Item::Null)
    }

    fn json_type(&self) -> JsonType {
        match self.item() {
            Item::Null => JsonType::Null,
            Item::Bool(_) => JsonType::Boolean,
            Item::Number(_) => JsonType::Number,
            Item::Text(_) => JsonType::String,
            Item::Array { .. } => JsonType::Array,
            Item::Object { .. } => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self.item(), expected) {
            (Item::Null, Value::Null) => true,
            (Item::Bool(flag), Value::Bool(other)) => flag == other,
            (Item::Number(number), Value::Number(other)) => cmp::equal_numbers(number, other),
            (Item::Text(text), Value::String(other)) => text == other,
            (Item::Array { .. }, Value::Array(_)) | (Item::Object { .. }, Value::Object(_)) => {
                cmp::equal(&Node::to_value(self), expected)
            }
            _ => false,
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(Node::to_value(self))
    }

    fn identity(&self) -> Option<json::NodeIdentity> {
        Some(json::NodeIdentity::tagged(self.items.as_ptr() as usize, self.index))
    }
}

impl<'a> json::Object<'a, TapeJson> for Node<'a> {
    type Node = Self;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        Node::len(self)
    }

    fn get(&self, key: &Box<str>) -> Option<Self> {
        self.members().find(|(name, _)| *name == &**key).map(|(_, value)| value)
    }

    fn members(&self) -> Members<'a> {
        Node::members(self)
    }
}

impl<'a> json::Array<'a, TapeJson> for Node<'a> {
    type Node = Self;
    type ElementsIter = Children<'a>;

    fn len(&self) -> usize {
        Node::len(self)
    }

    fn elements(&self) -> Children<'a> {
        self.children()
    }
}
