//! The known settings: an unknown key is an error, so that a misspelling does not silently have no effect.
//!
//! Sections that are not listed here belong to tools, and their keys are not checked. `[tools]`, `[bundles]`, `[defaults]`,
//! `[prices]`, `[quota.roles]`, `[mcp.servers]`, `[mcp.oauth]`, `[login]` and `[scopes]` are checked by the code that reads them.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use toolwright_core::schema::nearest;
use toolwright_core::{Config, ConfigError, Origin};
use toolwright_models::VENDORS;

/// Keys outside of every section; `prices` may be a list.
const TOP_LEVEL_KEYS: [&str; 4] = ["model", "system", "store", "prices"];

/// The sections and the keys of each.
const SECTION_KEYS: [(&str, &[&str]); 9] = [
    ("cluster", &["bus", "node"]),
    ("console", &["title", "logo", "accent", "greeting", "suggestions", "links"]),
    ("credentials", &["key", "key_file"]),
    ("journal", &["keep"]),
    (
        "quota",
        &["messages_per_minute", "concurrent_turns", "tokens_per_day", "cost_per_day", "roles"],
    ),
    ("server", &["token", "trusted_proxies", "url"]),
    ("mcp", &["servers", "oauth", "search"]),
    ("turn", &["calls", "calls_per_tool", "steps", "tokens", "cost", "time", "repeats"]),
    ("WebSearchTool", &["type", "city", "country", "region"]),
];

/// The keys of `[models.VENDOR]`.
const VENDOR_KEYS: [&str; 7] = [
    "key",
    "base_url",
    "model",
    "headers",
    "native_tool_search",
    "custom_tools",
    "tool_namespaces",
];

/// The keys of the groups `MCP`, `MCP_1`…
const MCP_GROUP_KEYS: [&str; 5] = ["name", "url", "description", "authorization", "mode"];

/// Returns an error for the first unknown key.
pub(super) fn reject_unknown_keys(config: &Config) -> Result<(), ConfigError> {
    let keys = config.keys_under("").into_iter();
    for key in keys.filter(|key| !key.contains('.') && !TOP_LEVEL_KEYS.contains(key)) {
        reject_unknown_top_level_key(config, key)?;
    }
    for (section, keys) in SECTION_KEYS {
        config.reject_unknown(section, keys)?;
    }
    let vendors: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name).collect();
    config.reject_unknown("models", &vendors)?;
    for vendor in vendors {
        config.reject_unknown(&format!("models.{vendor}"), &VENDOR_KEYS)?;
    }
    for group in config.numbered_groups("MCP") {
        config.reject_unknown(&group, &MCP_GROUP_KEYS)?;
    }
    Ok(())
}

/// Rejects a key outside of every section, unless its value is a list of tables (`[[mine]]`).
fn reject_unknown_top_level_key(config: &Config, key: &str) -> Result<(), ConfigError> {
    let hint = match nearest(key, TOP_LEVEL_KEYS, 1).first() {
        Some(name) => format!("did you mean `{name}`?"),
        None if config.get::<Vec<BTreeMap<String, IgnoredAny>>>(key).is_ok() => return Ok(()),
        None => format!(
            "there are {}; what a tool reads goes into a section of its own, as [mine]",
            TOP_LEVEL_KEYS.join(", ")
        ),
    };
    Err(ConfigError::Invalid {
        key: key.to_owned(),
        origin: config.origin(key).cloned().unwrap_or(Origin::Default),
        problem: format!("there is no such setting; {hint}"),
    })
}
