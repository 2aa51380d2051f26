//! Where in a schema a pass is, written out only when it has something to report.
//!
//! Every pass goes through every schema, and few places lose anything: so a place is a chain of steps on the stack.

/// A place in a schema.
#[derive(Clone, Copy)]
pub(crate) enum SchemaPath<'p> {
    /// A JSON pointer, empty for the root.
    Pointer(&'p str),
    /// One step further down.
    Below {
        up: &'p SchemaPath<'p>,
        keyword: &'p str,
        subschema: PathSegment<'p>,
    },
}

/// Which of the schemas under a keyword.
#[derive(Clone, Copy)]
pub(crate) enum PathSegment<'p> {
    Single,
    Index(usize),
    Name(&'p str),
}

impl<'p> SchemaPath<'p> {
    pub(crate) const ROOT: Self = Self::Pointer("");

    /// One step further down.
    pub(crate) fn child(&'p self, keyword: &'p str, subschema: PathSegment<'p>) -> Self {
        Self::Below {
            up: self,
            keyword,
            subschema,
        }
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Self::Pointer(""))
    }

    /// Whether this is an entry of the root's `$defs`.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Self::Below { up, keyword: "$defs", .. } if up.is_root())
    }

    /// The JSON pointer.
    pub(crate) fn to_json_pointer(&self) -> String {
        let mut pointer = String::with_capacity(self.estimated_len());
        self.write(&mut pointer);
        pointer
    }

    /// About how long the pointer is.
    fn estimated_len(&self) -> usize {
        match self {
            Self::Pointer(written) => written.len(),
            Self::Below {
                up,
                keyword,
                subschema,
            } => {
                let subschema = match subschema {
                    PathSegment::Single => 0,
                    PathSegment::Index(_) => "/00".len(),
                    PathSegment::Name(name) => "/".len() + name.len(),
                };
                up.estimated_len() + "/".len() + keyword.len() + subschema
            }
        }
    }

    fn write(&self, pointer: &mut String) {
        let (up, keyword, subschema) = match self {
            Self::Pointer(written) => return pointer.push_str(written),
            Self::Below {
                up,
                keyword,
                subschema,
            } => (up, keyword, subschema),
        };
        up.write(pointer);
        pointer.push('/');
        pointer.push_str(keyword);
        match subschema {
            PathSegment::Single => {}
            PathSegment::Index(at) => {
                pointer.push('/');
                pointer.push_str(&at.to_string());
            }
            PathSegment::Name(name) => {
                pointer.push('/');
                if name.contains(['~', '/']) {
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                } else {
                    pointer.push_str(name);
                }
            }
        }
    }
}
