//! JSON text parsed once into a flat, borrowed tape that both the validator and serde read.
//!
//! Parsing once makes validation affordable on every call. The tape is also the single place where size, depth and
//! duplicate keys are checked.

mod access;
mod buffer_pool;
mod build;
mod de;
mod error;
mod scalars;
mod validator;

use std::{borrow::Cow, cell::Cell};

use serde_json::{Map, Number, Value};

pub use error::{ParseError, ReadError};
pub use scalars::read_scalar_members;
pub(crate) use validator::TapeJson;

/// Limits on the size and nesting of JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputLimits {
    /// The maximum length of the text in bytes.
    pub bytes: usize,
    /// The maximum nesting of arrays and objects; a scalar has depth 0. Values above 126 count as 126.
    pub depth: usize,
}

impl InputLimits {
    /// Returns true if [`Tape::parse`] accepts the text of a value, whatever has to be escaped in it.
    ///
    /// False if the value is too deep or has a reserved key, and if its text might be too long: only parsing it tells then.
    pub fn admit(&self, value: &Value) -> bool {
        let mut remaining_bytes = self.bytes.min(u32::MAX as usize);
        build::fits(value, self.depth.min(build::MAX_DEPTH), &mut remaining_bytes).is_some()
    }
}

impl Default for InputLimits {
    fn default() -> Self {
        Self { bytes: 1 << 20, depth: 64 }
    }
}

thread_local! {
    static PARSE_COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count_parse() {
    if cfg!(debug_assertions) {
        PARSE_COUNT.set(PARSE_COUNT.get() + 1);
    }
}

/// One parsed JSON document that borrows the text it came from.
#[derive(Debug)]
pub struct Tape<'t> {
    items: Vec<Item<'t>>,
}

/// A container is followed by its children; an object's children alternate between key and value.
#[derive(Clone, Debug)]
enum Item<'t> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'t, str>),
    Array { len: u32, end: u32 },
    Object { len: u32, end: u32 },
}

impl<'t> Tape<'t> {
    /// Parses JSON text strictly: no trailing characters and no duplicate keys.
    ///
    /// # Errors
    ///
    /// Reports the limit that was exceeded, the duplicate key, or the position of the syntax error.
    pub fn parse(text: &'t str, limits: &InputLimits) -> Result<Self, ParseError> {
        count_parse();
        build::from_text(text, limits).map(|items| Self { items })
    }

    /// Counts the texts that this thread has parsed, for tests; a release build does not count.
    #[doc(hidden)]
    pub fn parse_count() -> usize {
        PARSE_COUNT.get()
    }

    /// Creates a tape from a value in memory; [`InputLimits::admit`] checks its limits.
    pub fn from_value(value: &'t Value) -> Self {
        Self { items: build::from_value(value) }
    }

    /// Copies the document into an owned value.
    pub fn to_value(&self) -> Value {
        self.root().to_value()
    }

    /// The root, read strictly: a struct rejects unknown fields.
    pub fn root(&self) -> Node<'_> {
        Node { items: &self.items, index: 0, deny_unknown_fields: true }
    }

    /// The root, read leniently: a struct skips unknown fields.
    pub fn root_lenient(&self) -> Node<'_> {
        Node { items: &self.items, index: 0, deny_unknown_fields: false }
    }
}

impl Drop for Tape<'_> {
    fn drop(&mut self) {
        buffer_pool::release(std::mem::take(&mut self.items));
    }
}

/// One value on a tape; cheap to copy.
///
/// Read it with serde (`T::deserialize(node)`) or pass it to [`Schema::is_valid`](crate::Schema::is_valid).
#[derive(Clone, Copy, Debug)]
pub struct Node<'t> {
    items: &'t [Item<'t>],
    index: u32,
    deny_unknown_fields: bool,
}

// Inlined into the code of tools, which is generic and compiled in other crates.
impl<'t> Node<'t> {
    /// Copies this value with all its descendants.
    pub fn to_value(&self) -> Value {
        match self.item() {
            Item::Null => Value::Null,
            Item::Bool(flag) => Value::Bool(*flag),
            Item::Number(number) => Value::Number(number.clone()),
            Item::Text(text) => Value::String(text.clone().into_owned()),
            Item::Array { .. } => self.children().map(|child| child.to_value()).collect(),
            Item::Object { .. } => Value::Object(
                self.members()
                    .map(|(key, child)| (key.to_owned(), child.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    #[inline]
    fn item(&self) -> &'t Item<'t> {
        // A tape is never empty, and every node was created from one of its items.
        self.items.get(self.index as usize).unwrap_or(&Item::Null)
    }

    #[inline]
    fn end_index(&self) -> u32 {
        match self.item() {
            Item::Array { end, .. } | Item::Object { end, .. } => *end,
            _ => self.index + 1,
        }
    }

    #[inline]
    fn at_index(self, at: u32) -> Self {
        Self { index: at, ..self }
    }

    #[inline]
    fn text(&self) -> &'t str {
        match self.item() {
            Item::Text(text) => text,
            _ => "",
        }
    }

    fn len(&self) -> usize {
        match self.item() {
            Item::Array { len, .. } | Item::Object { len, .. } => *len as usize,
            _ => 0,
        }
    }

    #[inline]
    fn children(&self) -> Children<'t> {
        let remaining = match self.item() {
            Item::Array { len, .. } => *len,
            Item::Object { len, .. } => len.saturating_mul(2),
            _ => 0,
        };
        Children { next_node: self.at_index(self.index + 1), remaining }
    }

    #[inline]
    fn members(&self) -> Members<'t> {
        Members(self.children())
    }
}

/// The direct children of a container, keys included.
pub struct Children<'t> {
    next_node: Node<'t>,
    remaining: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    #[inline]
    fn next(&mut self) -> Option<Node<'t>> {
        self.remaining = self.remaining.checked_sub(1)?;
        let node = self.next_node;
        self.next_node = node.at_index(node.end_index());
        Some(node)
    }
}

/// The members of an object in their original order.
pub struct Members<'t>(Children<'t>);

impl<'t> Iterator for Members<'t> {
    type Item = (&'t str, Node<'t>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?;
        Some((key.text(), self.0.next()?))
    }
}

#[cfg(test)]
mod tests;
