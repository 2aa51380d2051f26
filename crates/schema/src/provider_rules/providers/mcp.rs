//! The rules of the Model Context Protocol: any JSON Schema of an object without remote references.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, local_refs, meta_schema,
    report::RejectionReport,
    root,
    subschemas::{PathSegment, Subschema, SubschemaList},
    value_types,
};

pub(crate) fn check(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::all(schema);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    meta_schema::require_declared_draft(&mut report);
    local_refs::require_local_refs(&mut report);
    for subschema in subschemas.entries() {
        require_valid_header_parameter(subschema, &mut report);
    }
    report.into_rejections()
}

/// A parameter that is also sent as a header must be a scalar, reached by `properties` only.
fn require_valid_header_parameter<'a>(
    subschema: &Subschema<'a>,
    report: &mut RejectionReport<'_, 'a>,
) {
    if subschema.get("x-mcp-header").is_none() {
        return;
    }
    let types = value_types::type_names(subschema);
    if !matches!(types.as_slice(), [json_type] if ["string", "integer", "boolean"].contains(&json_type.as_str()))
    {
        report
            .reject(subschema, "`x-mcp-header` is accepted only on strings, integers and booleans");
    }
    let is_property = |subschema: &Subschema<'_>| {
        matches!(subschema.segment, PathSegment::Root | PathSegment::Name("properties", _))
    };
    if subschema.is_root() || !report.subschemas().self_and_ancestors(subschema).all(is_property) {
        report.reject(
            subschema,
            "`x-mcp-header` is accepted only on properties of properties of the root",
        );
    }
}
