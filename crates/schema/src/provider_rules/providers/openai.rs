//! OpenAI's rules: any JSON Schema of an object, or the subset of strict mode.

use super::{NO_RULES, ProviderRules, WholeCheck};
use crate::provider_rules::{
    definition_refs, keywords, local_refs, meta_schema, object_properties, pattern, root,
    value_types,
};

mod budget;

/// JSON Schema 2020-12 with a plain root that has `properties`: also the rule of OpenAI-compatible providers.
pub(crate) const PLAIN_OBJECT_SCHEMA: &[WholeCheck] = &[
    root::require_object_root,
    root::forbid_composed_root,
    root::require_root_properties,
    meta_schema::require_2020_12,
    local_refs::require_local_refs,
];

/// Without strict mode.
pub(crate) const NON_STRICT: ProviderRules =
    ProviderRules { whole: PLAIN_OBJECT_SCHEMA, ..NO_RULES };

/// The formats of strict mode.
pub(crate) const STRICT_FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// With strict mode.
pub(crate) const STRICT: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        root::forbid_composed_root,
        meta_schema::require_2020_12,
        definition_refs::require_known_definitions,
    ],
    keywords: Some(&[
        "type", "description", "enum", "const", "anyOf", "$defs", "$ref", "pattern", "format",
        "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "items",
        "minItems", "maxItems", "properties", "required", "additionalProperties",
    ]),
    each: &[
        |subschema, report| keywords::forbid_below_root(subschema, "$defs", report),
        |subschema, report| keywords::allow_formats(subschema, &STRICT_FORMATS, report),
        |subschema, report| value_types::require_type(subschema, &["$ref", "anyOf"], report),
        value_types::require_single_or_nullable_type,
        value_types::require_items,
        value_types::require_values_match_type,
        object_properties::require_properties,
        object_properties::require_closed,
        object_properties::require_all_required,
        object_properties::require_declared_required,
        pattern::forbid_lookaround,
        local_refs::require_ref_alone,
    ],
    totals: &[budget::check_depth, budget::check_totals],
    ..NO_RULES
};
