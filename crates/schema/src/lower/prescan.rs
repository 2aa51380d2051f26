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
            Ok(()) => Ok(scan),
            Err(ExceededLimit::Depth) => Err(too_deep_error()),
            Err(ExceededLimit::Nodes) => Err(too_large_error()),
        }
    }

    /// Scans a value; `names`: its keys are names of schemas, not keywords.
    fn scan_value(
        &mut self,
        value: &Value,
        names: bool,
        remaining_depth: usize,
    ) -> Result<(), ExceededLimit> {
        self.remaining_nodes = self.remaining_nodes.checked_sub(1).ok_or(ExceededLimit::Nodes)?;
        let remaining_depth = remaining_depth.checked_sub(1).ok_or(ExceededLimit::Depth)?;
        match value {
            Value::Array(elements) => {
                for element in elements {
                    self.keywords.insert_subschema(element);
                    self.scan_value(element, false, remaining_depth)?;
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
                    self.scan_value(value, names, remaining_depth)?;
                    if keyword == LIFT_KEYWORD {
                        // A mark is counted, but has no keywords.
                        self.has_lift_marks = true;
                        self.keywords = before;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The limit that a schema exceeds; its error is made once, because every value returns a result.
enum ExceededLimit {
    Depth,
    Nodes,
}

pub(crate) fn too_large_error() -> LowerError {
    exceeded_error(format!("has more than {MAX_NODES} parts"))
}

fn too_deep_error() -> LowerError {
    exceeded_error(format!("is more than {MAX_DEPTH} levels deep"))
}

fn exceeded_error(limit: String) -> LowerError {
    LowerError::new(format!("the schema, its references written out, {limit}"))
}
