//! Where in a schema a pass is, written out only when it has something to report.
//!
//! Every pass goes through every schema, and few places lose anything: so a place is a chain of steps on the stack.

/// A place in a schema.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    /// A JSON pointer, empty for the root.
    Written(&'p str),
    /// One step further down.
    Below {
        up: &'p Path<'p>,
        keyword: &'p str,
        part: Part<'p>,
    },
}

/// Which of the schemas under a keyword.
#[derive(Clone, Copy)]
pub(crate) enum Part<'p> {
    Only,
    At(usize),
    Named(&'p str),
}

impl<'p> Path<'p> {
    pub(crate) const ROOT: Self = Self::Written("");

    /// One step further down.
    pub(crate) fn below(&'p self, keyword: &'p str, part: Part<'p>) -> Self {
        Self::Below {
            up: self,
            keyword,
            part,
        }
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Self::Written(""))
    }

    /// Whether this is an entry of the root's `$defs`.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Self::Below { up, keyword: "$defs", .. } if up.is_root())
    }

    /// The JSON pointer.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = String::with_capacity(self.len());
        self.write(&mut pointer);
        pointer
    }

    /// About how long the pointer is.
    fn len(&self) -> usize {
        match self {
            Self::Written(written) => written.len(),
            Self::Below { up, keyword, part } => {
                let part = match part {
                    Part::Only => 0,
                    Part::At(_) => "/00".len(),
                    Part::Named(name) => "/".len() + name.len(),
                };
                up.len() + "/".len() + keyword.len() + part
            }
        }
    }

    fn write(&self, pointer: &mut String) {
        let (up, keyword, part) = match self {
            Self::Written(written) => return pointer.push_str(written),
            Self::Below { up, keyword, part } => (up, keyword, part),
        };
        up.write(pointer);
        pointer.push('/');
        pointer.push_str(keyword);
        match part {
            Part::Only => {}
            Part::At(at) => {
                pointer.push('/');
                pointer.push_str(&at.to_string());
            }
            Part::Named(name) => {
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
