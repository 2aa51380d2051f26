//! A schema in, whether passes may work on it and what occurs in it out.

use serde_json::Value;

use super::{Impossible, LIFT, Parts, Seen, parts};

/// No schema that anybody wrote comes near it; references that multiply do.
pub(crate) const MOST_NODES: usize = 20_000;

/// Passes call themselves for every level; values that deep are refused where a request is checked, too.
const MOST_DEPTH: usize = 128;

/// What a look at a whole schema finds out.
pub(super) struct Look {
    /// How many more parts it may have.
    left: usize,
    pub(super) seen: Seen,
    /// Whether it brings along marks that only passes may leave.
    pub(super) marked: bool,
}

impl Look {
    /// Refuses a schema that is beyond every bound.
    pub(super) fn at(schema: &Value) -> Result<Self, Impossible> {
        let mut look = Self {
            left: MOST_NODES,
            seen: Seen::default(),
            marked: false,
        };
        look.seen.note_part(schema);
        match look.fits(schema, false, MOST_DEPTH) {
            Fit::Yes => Ok(look),
            Fit::TooDeep => Err(too_deep()),
            Fit::TooLarge => Err(too_large()),
        }
    }

    /// Looks into a value; `names` tells that its keys are names of schemas, and no keywords.
    fn fits(&mut self, value: &Value, names: bool, deeper: usize) -> Fit {
        let Some(rest) = self.left.checked_sub(1) else {
            return Fit::TooLarge;
        };
        self.left = rest;
        let Some(deeper) = deeper.checked_sub(1) else {
            return Fit::TooDeep;
        };
        match value {
            Value::Array(elements) => {
                for element in elements {
                    self.seen.note_part(element);
                    match self.fits(element, false, deeper) {
                        Fit::Yes => {}
                        other => return other,
                    }
                }
            }
            Value::Object(members) => {
                for (keyword, value) in members {
                    let before = self.seen;
                    if names && (value.is_object() || value.is_boolean()) {
                        self.seen.note_part(value);
                    } else {
                        self.seen.note(keyword, value);
                    }
                    let names = !names && value.is_object() && parts(keyword) == Parts::Named;
                    match self.fits(value, names, deeper) {
                        Fit::Yes => {}
                        other => return other,
                    }
                    if keyword == LIFT {
                        // A mark is counted, but it says nothing.
                        self.marked = true;
                        self.seen = before;
                    }
                }
            }
            _ => {}
        }
        Fit::Yes
    }
}

enum Fit {
    Yes,
    TooDeep,
    TooLarge,
}

pub(crate) fn too_large() -> Impossible {
    Impossible::new(
        "",
        format!("the schema, its references written out, has more than {MOST_NODES} parts"),
    )
}

fn too_deep() -> Impossible {
    Impossible::new(
        "",
        format!("the schema, its references written out, is more than {MOST_DEPTH} levels deep"),
    )
}
