//! The rules that every provider has outside of its strict mode.

use super::{NO_RULES, ProviderRules};
use crate::provider_rules::{meta_schema, object_properties, root, value_types};

pub(crate) const RULES: ProviderRules = ProviderRules {
    whole: &[
        root::require_object_root,
        root::forbid_composed_root,
        root::require_root_properties,
        meta_schema::require_2020_12,
    ],
    keywords: Some(&["type", "description", "enum", "anyOf", "items", "properties", "required"]),
    each: &[
        |subschema, report| value_types::require_type(subschema, &["anyOf"], report),
        value_types::require_single_type,
        value_types::require_known_type,
        value_types::require_any_of_alone,
        value_types::require_string_enum,
        value_types::require_items,
        object_properties::require_nonempty,
        object_properties::require_declared_required,
        object_properties::require_identifier_names,
    ],
    ..NO_RULES
};
