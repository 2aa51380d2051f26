//! Ollama's rules: it deserialises schemas into structs with few fields, and silently drops the rest.

use super::{NO_RULES, ProviderRules};
use crate::provider_rules::{meta_schema, root};

pub(crate) const RULES: ProviderRules = ProviderRules {
    whole: &[root::require_object_root, meta_schema::require_2020_12],
    // Definitions are kept, but nothing can refer to them, so they are not checked.
    keywords: Some(&["anyOf", "type", "items", "description", "enum", "properties", "required"]),
    root_keywords: Some(&["type", "$defs", "items", "required", "properties"]),
    ..NO_RULES
};
