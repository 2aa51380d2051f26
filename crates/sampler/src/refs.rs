//! Resolves references within one schema.

use std::collections::HashMap;

use serde_json::Value;
use toolwright_schema::__internal::percent_decode_lossy;

/// The subschemas that references of one schema can name.
pub(super) struct RefResolver<'s> {
    root: &'s Value,
    /// `$anchor`, `$dynamicAnchor` and `$id` of subschemas, collected on first use.
    anchors: Option<HashMap<&'s str, &'s Value>>,
}

impl<'s> RefResolver<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root, anchors: None }
    }

    pub(super) fn resolve(&mut self, reference: &'s Value) -> Option<&'s Value> {
        let text = reference.as_str()?;
        if let Some(found) = text.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) {
            return Some(found);
        }
        let (document, fragment) = text.split_once('#').unwrap_or((text, ""));
        let named = self.anchors.get_or_insert_with(|| {
            let mut named = HashMap::new();
            collect_anchors(self.root, &mut named);
            named
        });
        let document = match document {
            "" => self.root,
            id => named.get(id)?,
        };
        match fragment {
            "" => Some(document),
            pointer if pointer.starts_with('/') => document.pointer(&percent_decode_lossy(pointer)),
            anchor => named.get(anchor).copied(),
        }
    }
}

/// Visits the whole schema; `Schema` limits its depth.
fn collect_anchors<'s>(schema: &'s Value, named: &mut HashMap<&'s str, &'s Value>) {
    match schema {
        Value::Object(object) => {
            for (keyword, value) in object {
                match (keyword.as_str(), value) {
                    ("$anchor" | "$dynamicAnchor" | "$id", Value::String(name)) => {
                        named.entry(name.trim_end_matches('#')).or_insert(schema);
                    }
                    ("const" | "enum" | "default" | "examples", _) => {}
                    _ => collect_anchors(value, named),
                }
            }
        }
        Value::Array(elements) => {
            elements.iter().for_each(|element| collect_anchors(element, named))
        }
        _ => {}
    }
}
