//! The settings that are ours: a misspelt one is an error, and not a setting that silently does nothing.
//!
//! Sections that are not named here belong to tools, which read what they like. `[tools]`, `[bundles]`, `[defaults]`,
//! `[prices]`, `[mcp.servers]` and `[mcp.oauth]` are checked by the code that reads them.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use toolwright_core::schema::nearest;
use toolwright_core::{Config, ConfigError, Origin};
use toolwright_models::VENDORS;

/// What stands outside of every section; `prices` may be a list.
const TOP_LEVEL_KEYS: [&str; 4] = ["model", "system", "store", "prices"];

/// The sections with the keys that each has.
const SECTION_KEYS: [(&str, &[&str]); 3] = [
    ("server", &["token"]),
    ("mcp", &["servers", "oauth"]),
    ("WebSearchTool", &["type", "city", "country", "region"]),
];

/// The keys of `[models.VENDOR]`.
const VENDOR_KEYS: [&str; 4] = ["key", "base_url", "model", "headers"];

/// The keys of the groups `MCP`, `MCP_1`…
const MCP_GROUP_KEYS: [&str; 5] = ["name", "url", "description", "authorization", "mode"];

/// Refuses the first setting of ours that does not exist.
pub(super) fn reject_unknown_keys(config: &Config) -> Result<(), ConfigError> {
    let alone = config.keys_under("").into_iter();
    for key in alone.filter(|key| !key.contains('.') && !TOP_LEVEL_KEYS.contains(key)) {
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

/// Refuses a key outside of every section, unless it is one itself: a list of tables, `[[mine]]`.
fn reject_unknown_top_level_key(config: &Config, key: &str) -> Result<(), ConfigError> {
    let hint = match nearest(key, TOP_LEVEL_KEYS, 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None if config.get::<Vec<BTreeMap<String, IgnoredAny>>>(key).is_ok() => return Ok(()),
        None => "what a tool reads goes into a section of its own, as [mine]".to_owned(),
    };
    Err(ConfigError::Invalid {
        key: key.to_owned(),
        origin: config.origin(key).cloned().unwrap_or(Origin::Default),
        problem: format!("there is no such setting; {hint}"),
    })
}
