//! Checks the size of a schema before the passes run, and collects its keywords.

use serde_json::Value;

use super::{KeywordSet, LIFT_KEYWORD, LowerError, SubschemaShape, subschema_shape};

/// Far above hand-written schemas; references that multiply exceed it.
pub(crate) const MAX_NODES: usize = 20_000;

/// Passes are recursive; arguments that deep are rejected by the parser, too.
const MAX_DEPTH: usize = 128;

/// The result of scanning a whole schema.
pub(super) struct Prescan {
    /// How many more values it may have.
    remaining_nodes: usize,
    pub(super) keywords: KeywordSet,
    /// Whether the input contains marks that only passes may add.
    pub(super) has_lift_marks: bool,
}

impl Prescan {
    /// Rejects a schema that is too large or too deep.
    pub(super) fn scan(schema: &Value) -> Result<Self, LowerError> {
        let mut scan = Self {
            remaining_nodes: MAX_NODES,
            keywords: KeywordSet::default(),
            has_lift_marks: false,
        };
        scan.keywords.insert_subschema(schema);
        match scan.scan_value(schema, false, MAX_DEPTH) {
            SizeCheck::WithinLimits => Ok(scan),
            SizeCheck::TooDeep => Err(too_deep_error()),
            SizeCheck::TooLarge => Err(too_large_error()),
        }
    }

    /// Scans a value; `names`: its keys are names of schemas, not keywords.
    fn scan_value(&mut self, value: &Value, names: bool, remaining_depth: usize) -> SizeCheck {
        let Some(rest) = self.remaining_nodes.checked_sub(1) else {
            return SizeCheck::TooLarge;
        };
        self.remaining_nodes = rest;
        let Some(remaining_depth) = remaining_depth.checked_sub(1) else {
            return SizeCheck::TooDeep;
        };
        match value {
            Value::Array(elements) => {
                for element in elements {
                    self.keywords.insert_subschema(element);
                    match self.scan_value(element, false, remaining_depth) {
                        SizeCheck::WithinLimits => {}
                        other => return other,
                    }
                }
            }
            Value::Object(members) => {
                for (keyword, value) in members {
                    let before = self.keywords;
                    if names && (value.is_object() || value.is_boolean()) {
                        self.keywords.insert_subschema(value);
                    } else {
                        self.keywords.insert_keyword(keyword, value);
                    }
                    let names = !names
                        && value.is_object()
                        && subschema_shape(keyword) == SubschemaShape::Map;
                    match self.scan_value(value, names, remaining_depth) {
                        SizeCheck::WithinLimits => {}
                        other => return other,
                    }
                    if keyword == LIFT_KEYWORD {
                        // A mark is counted, but has no keywords.
                        self.has_lift_marks = true;
                        self.keywords = before;
                    }
                }
            }
            _ => {}
        }
        SizeCheck::WithinLimits
    }
}

enum SizeCheck {
    WithinLimits,
    TooDeep,
    TooLarge,
}

pub(crate) fn too_large_error() -> LowerError {
    LowerError::new(
        "",
        format!("the schema, its references written out, has more than {MAX_NODES} parts"),
    )
}

fn too_deep_error() -> LowerError {
    LowerError::new(
        "",
        format!("the schema, its references written out, is more than {MAX_DEPTH} levels deep"),
    )
}
