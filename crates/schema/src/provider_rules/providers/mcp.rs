//! The rules of the Model Context Protocol: any JSON Schema of an object without remote references.

use super::{NO_RULES, ProviderRules};
use crate::provider_rules::{
    local_refs, meta_schema,
    report::Report,
    root,
    subschemas::{PathSegment, Subschema},
    value_types,
};

pub(crate) const RULES: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        meta_schema::require_declared_draft,
        local_refs::require_local_refs,
    ],
    each: &[require_valid_header_parameter],
    ..NO_RULES
};

/// A parameter that is also sent as a header must be a scalar, reached by `properties` only.
fn require_valid_header_parameter(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if subschema.get("x-mcp-header").is_none() {
        return;
    }
    let types = value_types::type_names(subschema);
    if !["string", "integer", "boolean"].iter().any(|json_type| types == [*json_type]) {
        let rule = "`x-mcp-header` is accepted only on strings, integers and booleans";
        report.reject(subschema, rule);
    }
    let is_property = |subschema: &Subschema<'_>| {
        matches!(subschema.segment, PathSegment::Root | PathSegment::Name("properties", _))
    };
    if subschema.is_root() || !report.subschemas().self_and_ancestors(subschema).all(is_property) {
        let rule = "`x-mcp-header` is accepted only on properties of properties of the root";
        report.reject(subschema, rule);
    }
}
