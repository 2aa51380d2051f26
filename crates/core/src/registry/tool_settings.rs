//! [`ToolSettings`]: the policies and layers of tools from `[tools.NAME]`, `[bundles.NAME]` and `[defaults]`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use toolwright_schema::{did_you_mean, redact};

use super::view::SharedSemaphores;
use super::{RegisteredTool, Snapshot};
use crate::config::Config;
use crate::error::RegistryError;
use crate::layer::{Cache, Layer, RateLimit, Retry};
use crate::tool::ToolSpec;
use crate::tool::approvers::Approvers;
use crate::tool::policy::{ApprovalPolicy, ErrorPolicy, UnknownArguments};
use crate::tool::prompt::Prompt;

/// The settings of a tool.
const SETTING_NAMES: [&str; 11] = [
    "enabled",
    "timeout",
    "approval",
    "approvers",
    "concurrency",
    "errors",
    "extra",
    "rate_limit",
    "retries",
    "cache",
    "pinned",
];

/// The keys of `[tools]` that are no tool: those of the search over all tools.
const SEARCH_KEYS: [&str; 4] = [
    "tools.search",
    "tools.search_embeddings",
    "tools.search_max_tools",
    "tools.search_max_tokens",
];

/// Settings, and the layers made from them: a layer keeps its state when the registry changes.
pub(crate) struct ToolSettings {
    config: Config,
    groups: SettingGroups,
    layers: Mutex<HashMap<String, Arc<dyn Layer>>>,
    permits: SharedSemaphores,
    /// Whether the names in the settings were checked once.
    names_checked: AtomicBool,
}

/// Which groups have any settings. Most programs have none, and no setting is then looked up for each of thousands of tools.
#[derive(Clone, Copy)]
struct SettingGroups {
    tools: bool,
    bundles: bool,
    defaults: bool,
}

impl SettingGroups {
    fn of(config: &Config) -> Self {
        Self {
            tools: config.has_any_under("tools"),
            bundles: config.has_any_under("bundles"),
            defaults: config.has_any_under("defaults"),
        }
    }

    fn are_empty(self) -> bool {
        !(self.tools || self.bundles || self.defaults)
    }
}

impl ToolSettings {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            groups: SettingGroups::of(&config),
            config,
            layers: Mutex::default(),
            permits: SharedSemaphores::default(),
            names_checked: AtomicBool::new(false),
        }
    }

    /// Applies the settings of each tool: its own override its bundle's, and those override the defaults.
    /// Prompts have only `enabled` of their bundle.
    pub(super) fn apply(
        &self,
        tools: &mut Vec<RegisteredTool>,
        prompts: &mut Vec<Prompt>,
        registry: &Snapshot,
    ) -> Result<(), RegistryError> {
        if self.groups.are_empty() {
            return Ok(());
        }
        // Only once: a tool that is removed later must not break the others.
        if !self.names_checked.load(Ordering::Relaxed) {
            let tools = tools.iter().chain(registry).map(RegisteredTool::spec);
            let prompts = prompts.iter().chain(registry.prompts()).map(Prompt::spec);
            self.reject_unknown_names(tools, prompts)?;
        }
        let mut kept = Vec::with_capacity(tools.len());
        for mut tool in tools.drain(..) {
            if self.value_for_tool(&tool, "enabled", Ok::<bool, String>)? == Some(false) {
                continue;
            }
            self.apply_policy(&mut tool)?;
            self.add_layers(&mut tool)?;
            kept.push(tool);
        }
        *tools = kept;
        let mut kept = Vec::with_capacity(prompts.len());
        for prompt in prompts.drain(..) {
            let key = format!("bundles.{}.enabled", prompt.spec().bundle);
            let enabled = self.find_first([key], Ok::<bool, String>)?;
            if enabled.is_none_or(|(_, on)| on) {
                kept.push(prompt);
            }
        }
        *prompts = kept;
        self.names_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn apply_policy(&self, tool: &mut RegisteredTool) -> Result<(), RegistryError> {
        let timeout = self.value_for_tool(tool, "timeout", |text: String| parse_duration(&text))?;
        let approval = self.value_for_tool(tool, "approval", Ok::<ApprovalPolicy, String>)?;
        let approvers = self.value_for_tool(tool, "approvers", Ok::<Approvers, String>)?;
        let concurrency = self.value_for_tool(tool, "concurrency", |limit: usize| match limit {
            0 => Err("no call could ever run: use at least 1".to_owned()),
            limit => Ok(limit),
        })?;
        let errors = self.value_for_tool(tool, "errors", Ok::<ErrorPolicy, String>)?;
        let unknown_arguments =
            self.value_for_tool(tool, "extra", Ok::<UnknownArguments, String>)?;
        let pinned = self.value_for_tool(tool, "pinned", Ok::<bool, String>)?;
        tool.map_policy(&self.permits, |_, policy| {
            policy.timeout = timeout.or(policy.timeout);
            policy.approval = approval.unwrap_or(policy.approval);
            if let Some(approvers) = approvers {
                policy.approvers = approvers;
            }
            policy.concurrency = concurrency.unwrap_or(policy.concurrency);
            policy.errors = errors.unwrap_or(policy.errors);
            policy.unknown_arguments = unknown_arguments.unwrap_or(policy.unknown_arguments);
            policy.pinned = pinned.unwrap_or(policy.pinned);
        });
        Ok(())
    }

    fn add_layers(&self, tool: &mut RegisteredTool) -> Result<(), RegistryError> {
        if let Some((key, (calls, period))) =
            self.find_for_tool(tool, "rate_limit", |text: String| parse_rate(&text))?
        {
            self.add_layer(tool, key, || RateLimit::new(calls, period));
        }
        if let Some((key, retries)) = self.find_for_tool(tool, "retries", Ok::<u32, String>)?
            && self.check_repeatable(tool, &key)?
        {
            self.add_layer(tool, key, || Retry::new(retries));
        }
        if let Some((key, ttl)) =
            self.find_for_tool(tool, "cache", |text: String| parse_duration(&text))?
            && self.check_repeatable(tool, &key)?
        {
            self.add_layer(tool, key, || Cache::new(ttl));
        }
        Ok(())
    }

    fn add_layer<L: Layer>(
        &self,
        tool: &mut RegisteredTool,
        key: String,
        make: impl FnOnce() -> L,
    ) {
        let mut layers = self.layers.lock().unwrap_or_else(PoisonError::into_inner);
        let layer = layers.entry(key).or_insert_with(|| Arc::new(make()));
        tool.layers.add(layer);
    }

    /// Returns true if a tool may run twice. A setting of `[tools.NAME]` for any other is an error; a bundle's or
    /// a default setting just skips it.
    fn check_repeatable(&self, tool: &RegisteredTool, key: &str) -> Result<bool, RegistryError> {
        let repeatable = tool.spec().hints.is_repeatable();
        if repeatable || !key.starts_with("tools.") {
            return Ok(repeatable);
        }
        let name = &tool.spec().name;
        Err(self.setting_error(
            key,
            format!("`{name}` runs once only: declare it `read_only` or `idempotent`, or drop the setting"),
        ))
    }

    fn value_for_tool<T: DeserializeOwned, U>(
        &self,
        tool: &RegisteredTool,
        setting: &str,
        read: impl FnOnce(T) -> Result<U, String>,
    ) -> Result<Option<U>, RegistryError> {
        let found = self.find_for_tool(tool, setting, read)?;
        Ok(found.map(|(_, value)| value))
    }

    /// Returns a setting of a tool, and the key that it was found under.
    fn find_for_tool<T: DeserializeOwned, U>(
        &self,
        tool: &RegisteredTool,
        setting: &str,
        read: impl FnOnce(T) -> Result<U, String>,
    ) -> Result<Option<(String, U)>, RegistryError> {
        let (spec, groups) = (tool.spec(), self.groups);
        let keys = [
            groups.tools.then(|| format!("tools.{}.{setting}", spec.name)),
            groups.bundles.then(|| format!("bundles.{}.{setting}", spec.bundle)),
            groups.defaults.then(|| format!("defaults.{setting}")),
        ];
        self.find_first(keys.into_iter().flatten(), read)
    }

    /// Returns the value of the first key that is set, and the key.
    fn find_first<T: DeserializeOwned, U>(
        &self,
        keys: impl IntoIterator<Item = String>,
        read: impl FnOnce(T) -> Result<U, String>,
    ) -> Result<Option<(String, U)>, RegistryError> {
        for key in keys {
            let found = self
                .config
                .get_optional::<T>(&key)
                .map_err(|error| RegistryError::Setting { message: error.to_string() })?;
            if let Some(found) = found {
                let value = read(found).map_err(|message| self.setting_error(&key, message))?;
                return Ok(Some((key, value)));
            }
        }
        Ok(None)
    }

    fn setting_error(&self, key: &str, message: String) -> RegistryError {
        let origin = self.config.origin(key).map(|origin| format!(" ({origin})"));
        RegistryError::Setting {
            // The rejected value may be anything, even a misplaced API key.
            message: format!("setting `{key}`{}: {}", origin.unwrap_or_default(), redact(&message)),
        }
    }

    /// Rejects a misspelt tool or setting, which would otherwise be ignored silently.
    fn reject_unknown_names<'e>(
        &self,
        tools: impl Iterator<Item = &'e ToolSpec>,
        prompts: impl Iterator<Item = &'e ToolSpec>,
    ) -> Result<(), RegistryError> {
        let (tools, mut bundles): (Vec<&str>, Vec<&str>) =
            tools.map(|spec| (spec.name.as_str(), &*spec.bundle)).unzip();
        bundles.extend(prompts.map(|spec| &*spec.bundle));
        for (group, known) in [("tools", &tools), ("bundles", &bundles)] {
            for key in self.config.keys_under(group) {
                if SEARCH_KEYS.contains(&key) {
                    continue;
                }
                let rest = key.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'));
                let Some((name, setting)) = rest.and_then(|rest| rest.rsplit_once('.')) else {
                    let mut message =
                        format!("expected a section: write `{key}.enabled`, for example");
                    if group == "tools" {
                        message +=
                            &format!("; outside of sections there are {}", SEARCH_KEYS.join(", "));
                    }
                    return Err(self.setting_error(key, message));
                };
                if !known.contains(&name) {
                    let kind = group.trim_end_matches('s');
                    return Err(self.setting_error(key, unknown_name_message(kind, name, known)));
                }
                self.reject_unknown_setting(key, setting)?;
            }
        }
        for key in self.config.keys_under("defaults") {
            let setting = key.strip_prefix("defaults.").unwrap_or(key);
            self.reject_unknown_setting(key, setting)?;
        }
        self.reject_unknown_variables(&tools, &bundles)
    }

    /// Rejects a variable of the environment that is a setting of no tool and no bundle.
    fn reject_unknown_variables(
        &self,
        tools: &[&str],
        bundles: &[&str],
    ) -> Result<(), RegistryError> {
        let variable_of = |key: &str| self.config.variable_name(key);
        let settings =
            SETTING_NAMES.map(|setting| variable_of(setting).replacen(&variable_of(""), "_", 1));
        for (group, known) in [("tools", tools), ("bundles", bundles)] {
            for variable in self.config.variables_under(group) {
                let mut owners =
                    settings.iter().filter_map(|it| variable.strip_suffix(it.as_str()));
                let is_of =
                    |owner: &str, name: &&str| variable_of(&format!("{group}.{name}")) == owner;
                if SEARCH_KEYS.iter().any(|key| variable_of(key) == variable)
                    || owners.clone().any(|owner| known.iter().any(|name| is_of(owner, name)))
                {
                    continue;
                }
                let kind = group.trim_end_matches('s');
                let prefix = variable_of(group) + "_";
                let message = match owners.next().and_then(|owner| owner.strip_prefix(&prefix)) {
                    Some(name) => unknown_name_message(kind, &name.to_lowercase(), known),
                    None => format!("a {kind} has the settings {}", SETTING_NAMES.join(", ")),
                };
                return Err(self.setting_error(variable, message));
            }
        }
        let is_default = |variable: &&str| {
            SETTING_NAMES.iter().any(|it| variable_of(&format!("defaults.{it}")) == *variable)
        };
        match self.config.variables_under("defaults").into_iter().find(|it| !is_default(it)) {
            None => Ok(()),
            Some(variable) => {
                let message = format!("there are {}", SETTING_NAMES.join(", "));
                Err(self.setting_error(variable, message))
            }
        }
    }

    fn reject_unknown_setting(&self, key: &str, setting: &str) -> Result<(), RegistryError> {
        if SETTING_NAMES.contains(&setting) {
            return Ok(());
        }
        let mut message = unknown_name_message("setting", setting, &SETTING_NAMES);
        if !message.contains("; ") {
            message += &format!("; there are {}", SETTING_NAMES.join(", "));
        }
        Err(self.setting_error(key, message))
    }
}

fn unknown_name_message(kind: &str, name: &str, known: &[&str]) -> String {
    let hint = did_you_mean(name, known.iter().copied()).map(|hint| format!("; {hint}"));
    format!("there is no {kind} `{name}`{}", hint.unwrap_or_default())
}

/// Parses `500ms`, `30s`, `5m` or `1h`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = || format!("expected a duration such as `30s` (ms, s, m or h), found `{text}`");
    let unit_start = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(expected)?;
    let (number, unit) = text.split_at(unit_start);
    let number: u64 = number.parse().map_err(|_| expected())?;
    let millis = match unit.trim() {
        "ms" => Some(number),
        "s" => number.checked_mul(1_000),
        "m" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        _ => None,
    };
    let millis = millis.filter(|millis| *millis > 0).ok_or_else(expected)?;
    Ok(Duration::from_millis(millis))
}

/// Parses `10/s`, `100/m` or `1000/h`.
fn parse_rate(text: &str) -> Result<(u32, Duration), String> {
    let expected =
        || format!("expected a number of calls per s, m or h, such as `10/m`, found `{text}`");
    let (calls, unit) = text.split_once('/').ok_or_else(expected)?;
    let calls: u32 = calls.trim().parse().map_err(|_| expected())?;
    let period = parse_duration(&format!("1{}", unit.trim())).map_err(|_| expected())?;
    if calls == 0 {
        return Err("no call could ever run: use `enabled = false`".to_owned());
    }
    Ok((calls, period))
}
