//! Ollama's rules: it deserialises schemas into structs with few fields, and silently drops the rest.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, keywords, meta_schema, report::RejectionReport, root, subschemas::SubschemaList,
};

const ROOT_KEYWORDS: [&str; 5] = ["type", "$defs", "items", "required", "properties"];

const NESTED_KEYWORDS: [&str; 7] =
    ["anyOf", "type", "items", "description", "enum", "properties", "required"];

pub(crate) fn check(schema: &Value) -> Vec<Rejection> {
    // Definitions are kept, but nothing can refer to them, so they are not checked.
    let subschemas = SubschemaList::under_keywords(schema, &NESTED_KEYWORDS);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    meta_schema::require_2020_12(&mut report);
    for subschema in subschemas.entries() {
        let kept: &[&str] = if subschema.is_root() { &ROOT_KEYWORDS } else { &NESTED_KEYWORDS };
        keywords::require_object_schema(subschema, &mut report);
        keywords::allow_only(subschema, kept, &mut report);
    }
    report.into_rejections()
}
