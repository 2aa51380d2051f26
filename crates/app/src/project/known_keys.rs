//! The known settings: an unknown key or variable is an error, so that a misspelling does not silently have no effect.
//!
//! A section or variable that does not resemble one of these belongs to tools. The keys of `[tools]`, `[bundles]`, `[defaults]` and
//! `[prices]` in a file are checked by their readers, which know the names of tools.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use toolwright_core::schema::{did_you_mean, is_misspelling};
use toolwright_core::{Config, ConfigError, Origin};
use toolwright_models::VENDORS;

use crate::error::AppError;

/// Keys outside of every section; `prices` may be a list.
const TOP_LEVEL_KEYS: [&str; 4] = ["model", "system", "store", "prices"];

/// A name that the user chooses.
const ANY: &str = "*";

/// The sections and the keys of each; `VENDOR` is the name of each vendor.
const SECTION_KEYS: [(&str, &[&str]); 27] = [
    ("cluster", &["bus", "node"]),
    ("console", &["title", "logo", "accent", "greeting", "suggestions", "links"]),
    ("credentials", &["key", "key_file"]),
    ("journal", &["keep"]),
    ("quota", &QUOTA_KEYS),
    ("quota.roles.*", &QUOTA_KEYS),
    ("server", &["token", "trusted_proxies", "url"]),
    ("turn", &["calls", "calls_per_tool", "steps", "tokens", "cost", "time", "repeats"]),
    ("mcp", &["search"]),
    ("mcp.servers.*", &MCP_SERVER_KEYS),
    ("mcp.servers.*.headers", &[ANY]),
    ("mcp.servers.*.env", &[ANY]),
    ("mcp.oauth", &["resource", "issuer", "keys", "audiences", "needs", "skew_s"]),
    ("mcp.oauth.scopes.*", &SCOPE_KEYS),
    ("login.*", &["issuer", "client_id", "client_secret", "label", "scopes", "groups"]),
    ("login.*.roles", &[ANY]),
    ("login.*.grants", &[ANY]),
    ("scopes.*", &SCOPE_KEYS),
    ("models.VENDOR", &VENDOR_KEYS),
    ("models.VENDOR.headers", &[ANY]),
    ("prices.*", &["input", "output", "cached", "cache_written"]),
    ("tools", &["search", "search_embeddings", "search_max_tools", "search_max_tokens"]),
    ("tools.*", &TOOL_KEYS),
    ("bundles.*", &TOOL_KEYS),
    ("defaults", &TOOL_KEYS),
    ("WebSearchTool", &["type", "city", "country", "region"]),
    ("MCP", &["name", "url", "description", "authorization", "mode"]),
];

const QUOTA_KEYS: [&str; 4] =
    ["messages_per_minute", "concurrent_turns", "tokens_per_day", "cost_per_day"];

#[rustfmt::skip]
const MCP_SERVER_KEYS: [&str; 16] = [
    "url", "command", "args", "authorization", "prefix", "timeout_s", "connect_s", "trust", "revision", "oauth", "grant",
    "issuer", "client_id", "client_secret", "client_metadata_url", "scopes",
];

const SCOPE_KEYS: [&str; 6] = ["scope", "all", "read_only", "names", "bundles", "implies"];

const VENDOR_KEYS: [&str; 6] =
    ["key", "base_url", "model", "native_tool_search", "custom_tools", "tool_namespaces"];

#[rustfmt::skip]
const TOOL_KEYS: [&str; 11] = [
    "enabled", "timeout", "approval", "approvers", "concurrency", "errors", "extra", "rate_limit", "retries", "cache", "pinned",
];

/// The sections whose keys in a file are checked by their readers.
const CHECKED_BY_READER: [&str; 4] = ["tools", "bundles", "defaults", "prices"];

/// Variables that are no settings, and that Toolwright reads itself.
const OTHER_VARIABLES: [&str; 2] = ["TOOLWRIGHT_ATTACHED_BY", "TOOLWRIGHT_FORBID_LIVE"];

/// Returns an error for the first key or variable that is misspelt; else the sections and variables that only tools may read.
pub(super) fn reject_unknown(config: &Config) -> Result<Vec<String>, AppError> {
    let known = KnownKeys::new();
    let mut others = known.check_keys(config)?;
    others.extend(known.check_variables(config)?);
    Ok(others.into_iter().collect())
}

/// A section, and its keys.
struct Section {
    path: String,
    keys: &'static [&'static str],
}

struct KnownKeys {
    sections: Vec<Section>,
    /// The whole key of each setting of a section.
    patterns: Vec<String>,
}

impl KnownKeys {
    fn new() -> Self {
        let mut sections = Vec::new();
        for (path, keys) in SECTION_KEYS {
            let vendors = VENDORS.iter().map(|vendor| path.replace("VENDOR", vendor.name));
            let paths: BTreeSet<String> = vendors.collect();
            sections.extend(paths.into_iter().map(|path| Section { path, keys }));
        }
        let patterns = sections
            .iter()
            .flat_map(|Section { path, keys }| keys.iter().map(move |key| format!("{path}.{key}")));
        Self { patterns: patterns.collect(), sections }
    }

    /// The names of the outermost sections.
    fn section_names(&self) -> BTreeSet<&str> {
        self.sections.iter().map(|section| first_word(&section.path, '.')).collect()
    }

    /// Checks the keys of the file, the defaults and the flags; returns the sections that only tools may read.
    fn check_keys(&self, config: &Config) -> Result<BTreeSet<String>, ConfigError> {
        let section_names = self.section_names();
        let mut others = BTreeSet::new();
        for key in config.keys_under("") {
            let ungrouped = without_group_number(key, '.');
            let section = first_word(&ungrouped, '.');
            if TOP_LEVEL_KEYS.contains(&&*ungrouped) {
                continue;
            }
            if section_names.contains(section) {
                let is_whole = section == ungrouped;
                if is_whole || !CHECKED_BY_READER.contains(&section) {
                    self.check_key(config, key, &ungrouped)?;
                }
                continue;
            }
            if section == ungrouped {
                reject_top_level_key(config, key)?;
            }
            if let Some(near) = misspelt_section(section, &section_names) {
                return Err(unknown_key_error(config, key, &format!("did you mean `{near}`?")));
            }
            if matches!(config.origin(key), Some(Origin::File { .. })) {
                others.insert(format!("[{section}]"));
            }
        }
        Ok(others)
    }

    /// Checks a key of one of our sections.
    fn check_key(&self, config: &Config, key: &str, ungrouped: &str) -> Result<(), ConfigError> {
        let names: Vec<&str> = ungrouped.split('.').collect();
        let patterns: Vec<Vec<&str>> =
            self.patterns.iter().map(|pattern| pattern.split('.').collect()).collect();
        if patterns.iter().any(|pattern| matches(pattern, &names)) {
            return Ok(());
        }
        // The longest beginning that some setting has, and the names that follow it there.
        let begins = |pattern: &&Vec<&str>, depth: usize| {
            let mut pairs = pattern.iter().zip(&names).take(depth);
            pattern.len() >= depth && pairs.all(|(known, name)| *known == ANY || known == name)
        };
        let depths = (0..=names.len()).rev();
        let found =
            depths.map(|depth| (depth, patterns.iter().filter(move |it| begins(it, depth))));
        let (depth, following) = found
            .map(|(depth, following)| (depth, following.collect::<Vec<_>>()))
            .find(|(_, following)| !following.is_empty())
            .unwrap_or_default();
        let mut known: Vec<&str> = Vec::new();
        for name in following.iter().filter_map(|pattern| pattern.get(depth).copied()) {
            if name != ANY && !known.contains(&name) {
                known.push(name);
            }
        }
        let there_are = format!("there are {}", known.join(", "));
        let hint = match names.get(depth) {
            _ if known.is_empty() => format!(
                "`{}` has no keys of its own",
                names.get(..depth).unwrap_or_default().join(".")
            ),
            None => format!("it is a section, in which {there_are}"),
            Some(name) => did_you_mean(name, known.iter().copied()).unwrap_or(there_are),
        };
        Err(unknown_key_error(config, key, &hint))
    }

    /// Checks the variables of the environment; returns those that only tools may read.
    fn check_variables(&self, config: &Config) -> Result<Vec<String>, AppError> {
        let in_file = self.variables_of_sections(config);
        let fixed =
            self.patterns.iter().filter(|pattern| !pattern.contains(ANY)).map(String::as_str);
        let fixed = fixed.chain(["model", "system", "store"]).map(|key| config.variable_name(key));
        let known: BTreeSet<String> = fixed.chain(in_file).collect();
        let section_names = self.section_names();
        let ours = section_names.iter().chain(&TOP_LEVEL_KEYS).map(|it| config.variable_name(it));
        let ours: Vec<String> = ours.map(|name| name + "_").collect();
        let of_tools: Vec<String> = config
            .keys_under("")
            .into_iter()
            .filter_map(|key| Some(key.split_once('.')?.0))
            .filter(|name| {
                !section_names.contains(first_word(&without_group_number(name, '.'), '.'))
            })
            .map(|name| config.variable_name(name) + "_")
            .collect();
        let prefix = config.variable_name("");
        for variable in config.variables_with_misspelt_prefix() {
            let name = variable.split_once('_').map_or("", |(_, name)| name);
            let ungrouped = without_group_number(name, '_');
            let meant = format!("{prefix}{name}");
            let is_ours = known.contains(&meant)
                || known.contains(&format!("{prefix}{ungrouped}"))
                || self.pattern_of_variable(&ungrouped).is_some();
            if is_ours {
                let message = format!(
                    "variable `{variable}`: there is no such setting; did you mean `{meant}`?"
                );
                return Err(AppError::new(message));
            }
        }
        let mut others = Vec::new();
        let variables = config.variables_under("");
        for variable in variables.iter().copied().filter(|it| !is_service_link(it, &variables)) {
            let name = variable.strip_prefix(&prefix).unwrap_or(variable);
            let ungrouped = without_group_number(name, '_');
            let pattern = self.pattern_of_variable(&ungrouped);
            let is_known = known.contains(&format!("{prefix}{ungrouped}"))
                || known.contains(variable)
                || OTHER_VARIABLES.contains(&variable)
                || pattern.is_some_and(|it| {
                    CHECKED_BY_READER.contains(&first_word(it, '.')) && !it.starts_with("prices")
                });
            if is_known || of_tools.iter().any(|section| variable.starts_with(section)) {
                continue;
            }
            let is_ours = ours.iter().any(|ours| variable.starts_with(ours))
                || misspelt_section(first_word(name, '_'), &section_names).is_some()
                || known.iter().any(|known| {
                    is_misspelling(name, known.strip_prefix(&prefix).unwrap_or(known))
                });
            if !is_ours {
                others.push(variable.to_owned());
                continue;
            }
            let hint = match pattern.and_then(|pattern| pattern.rsplit_once('.')) {
                Some((section, _))
                    if section.contains(ANY) || pattern.is_some_and(|it| it.ends_with(ANY)) =>
                {
                    let section = section.replace(ANY, "NAME");
                    format!(
                        "it can only change a key in a section `[{section}]` that the settings file has"
                    )
                }
                _ => variable_hint(variable, name, &ungrouped, &known),
            };
            let message = format!("variable `{variable}`: there is no such setting; {hint}");
            return Err(AppError::new(message));
        }
        Ok(others)
    }

    /// The variables of keys in the sections that the file has, where the names of sections are the user's: no variable tells where
    /// such a name ends.
    fn variables_of_sections(&self, config: &Config) -> BTreeSet<String> {
        let mut variables = BTreeSet::new();
        for key in config.keys_under("") {
            variables.insert(config.variable_name(key));
            for (end, _) in key.match_indices('.') {
                let path = key.get(..end).unwrap_or_default();
                let names: Vec<&str> = path.split('.').collect();
                let sections = self.sections.iter().filter(|section| {
                    matches(&section.path.split('.').collect::<Vec<_>>(), &names)
                });
                let keys = sections.flat_map(|section| section.keys).filter(|key| **key != ANY);
                variables.extend(keys.map(|key| config.variable_name(&format!("{path}.{key}"))));
            }
        }
        variables
    }

    /// The setting that a variable could be of, if the names of its sections were known; `name` is without the prefix.
    fn pattern_of_variable(&self, name: &str) -> Option<&str> {
        let words: Vec<&str> = name.split('_').collect();
        let mut patterns = self.patterns.iter().map(String::as_str);
        patterns.find(|pattern| {
            let pattern = pattern.to_ascii_uppercase();
            matches(&pattern.split(['.', '_', '-']).collect::<Vec<_>>(), &words)
        })
    }
}

/// Returns true if the names are those of the pattern, with one or more names for each [`ANY`].
fn matches(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern, names) {
        ([], []) => true,
        ([ANY, below @ ..], [_, rest @ ..]) => matches(below, rest) || matches(pattern, rest),
        ([known, below @ ..], [name, rest @ ..]) => known == name && matches(below, rest),
        _ => false,
    }
}

fn first_word(text: &str, separator: char) -> &str {
    text.split(separator).next().unwrap_or(text)
}

/// Replaces the group `MCP_1` at the start by `MCP`, whose keys it has.
fn without_group_number(text: &str, separator: char) -> Cow<'_, str> {
    let rest = text
        .strip_prefix("MCP_")
        .map(|rest| (rest, rest.trim_start_matches(|c: char| c.is_ascii_digit())));
    match rest {
        Some((rest, after))
            if after.len() < rest.len() && (after.is_empty() || after.starts_with(separator)) =>
        {
            Cow::Owned(format!("MCP{after}"))
        }
        _ => Cow::Borrowed(text),
    }
}

/// The section of ours that this one may be meant to be.
fn misspelt_section(section: &str, section_names: &BTreeSet<&str>) -> Option<String> {
    if section_names.contains(section) {
        return None;
    }
    let number: String = section.chars().filter(char::is_ascii_digit).collect();
    let group = (!number.is_empty()).then(|| format!("MCP_{number}"));
    let names = section_names.iter().map(|name| (*name).to_owned()).chain(group);
    names.into_iter().find(|name| is_misspelling(section, name))
}

/// Returns true for a variable that Kubernetes sets for a service: one named `toolwright-server` has `TOOLWRIGHT_SERVER_SERVICE_HOST`.
fn is_service_link(variable: &str, variables: &[&str]) -> bool {
    let mut services = variables.iter().filter_map(|it| it.strip_suffix("_SERVICE_HOST"));
    services.any(|service| {
        let rest = variable.strip_prefix(service).unwrap_or_default();
        rest.starts_with("_SERVICE_") || rest == "_PORT" || rest.starts_with("_PORT_")
    })
}

/// What to write in place of an unknown variable.
fn variable_hint(variable: &str, name: &str, ungrouped: &str, known: &BTreeSet<String>) -> String {
    // `MCP_1` in `MCP_1_ULR`: the known variables are those of `MCP`.
    let group = ungrouped.strip_prefix("MCP").and_then(|after| name.strip_suffix(after));
    let of_group = |known: &String| match group {
        Some(group) => known.replacen("_MCP_", &format!("_{group}_"), 1),
        None => known.clone(),
    };
    let candidates = variables_of_tools(variable).into_iter().chain(known.iter().map(of_group));
    let candidates: Vec<String> = candidates.collect();
    did_you_mean(variable, candidates.iter().map(String::as_str))
        .unwrap_or_else(|| "`config show --help` names the sections".to_owned())
}

/// The variables of settings of tools that this one may be meant to be.
fn variables_of_tools(variable: &str) -> Vec<String> {
    let starts = variable.match_indices('_').filter_map(|(end, _)| variable.get(..end));
    let starts = starts.filter(|it| it.contains("_TOOLS_") || it.contains("_BUNDLES_"));
    let with_keys = starts.flat_map(|start| {
        TOOL_KEYS.iter().map(move |key| format!("{start}_{}", key.to_ascii_uppercase()))
    });
    with_keys.collect()
}

fn unknown_key_error(config: &Config, key: &str, hint: &str) -> ConfigError {
    ConfigError::Invalid {
        key: key.to_owned(),
        origin: config.origin(key).cloned().unwrap_or(Origin::Default),
        problem: format!("there is no such setting; {hint}"),
    }
}

/// Rejects a key outside of every section, unless its value is a list of tables (`[[mine]]`).
fn reject_top_level_key(config: &Config, key: &str) -> Result<(), ConfigError> {
    let hint = match did_you_mean(key, TOP_LEVEL_KEYS) {
        Some(hint) => hint,
        None if config.get::<Vec<BTreeMap<String, IgnoredAny>>>(key).is_ok() => return Ok(()),
        None => format!(
            "there are {}; what a tool reads goes into a section of its own, as [mine]",
            TOP_LEVEL_KEYS.join(", ")
        ),
    };
    Err(unknown_key_error(config, key, &hint))
}
