//! The path of a schema that a pass visits, written out only for reports.
//!
//! Every pass visits every schema, and few of them lose anything, so a path is a linked list on the stack.

use crate::json_pointer::push_pointer_token;

/// The path of a schema.
#[derive(Clone, Copy)]
pub(crate) enum SchemaPath<'p> {
    /// A JSON pointer, empty for the root.
    Pointer(&'p str),
    /// One step below another path.
    Below { up: &'p SchemaPath<'p>, keyword: &'p str, subschema: PathSegment<'p> },
}

/// Which of the subschemas of a keyword.
#[derive(Clone, Copy)]
pub(crate) enum PathSegment<'p> {
    Single,
    Index(usize),
    Name(&'p str),
}

impl<'p> SchemaPath<'p> {
    pub(crate) const ROOT: Self = Self::Pointer("");

    /// The path one step below.
    pub(crate) fn child(&'p self, keyword: &'p str, subschema: PathSegment<'p>) -> Self {
        Self::Below { up: self, keyword, subschema }
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Self::Pointer(""))
    }

    /// Returns true if this is an entry of the root's `$defs`.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Self::Below { up, keyword: "$defs", .. } if up.is_root())
    }

    /// Returns true if the test holds for any token of the JSON pointer.
    pub(crate) fn any_token(&self, test: fn(&str) -> bool) -> bool {
        match self {
            Self::Pointer(written) => written.split('/').any(test),
            Self::Below { up, keyword, subschema } => {
                test(keyword)
                    || matches!(subschema, PathSegment::Name(name) if test(name))
                    || up.any_token(test)
            }
        }
    }

    /// The JSON pointer.
    pub(crate) fn json_pointer(&self) -> String {
        // Most pointers are shorter.
        let mut pointer = String::with_capacity(64);
        self.write(&mut pointer);
        pointer
    }

    fn write(&self, pointer: &mut String) {
        let (up, keyword, subschema) = match self {
            Self::Pointer(written) => return pointer.push_str(written),
            Self::Below { up, keyword, subschema } => (up, keyword, subschema),
        };
        up.write(pointer);
        pointer.push('/');
        pointer.push_str(keyword);
        match subschema {
            PathSegment::Single => {}
            PathSegment::Index(at) => push_pointer_token(pointer, &at.to_string()),
            PathSegment::Name(name) => push_pointer_token(pointer, name),
        }
    }
}
