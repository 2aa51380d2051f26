//! Placeholders for the tools of unavailable servers, while the settings are checked for unknown names.
//!
//! `[tools.shop_add]` is an error if there is no such tool, but not if the server `shop` cannot be reached. An invoker checks
//! the names and values only when it is built; then it is given a placeholder with the name. The registry never has it: the
//! server may register its tool at the same moment.

use std::collections::BTreeSet;

use toolwright_core::{Config, Registry, Tool};

/// Makes a placeholder for each tool and bundle that the settings name and the registry does not have.
///
/// `absent` limits this to the tools and bundles of these names; with `None`, any name may be missing.
pub(super) fn placeholders(
    registry: &Registry,
    config: &Config,
    absent: Option<&[String]>,
) -> Vec<Tool> {
    let mut made = Vec::new();
    let mut add = |name: &str, bundle: &str| {
        let tool = Tool::builder(name, "Stands in for a tool whose server is away.")
            .imported(true)
            .bundle(bundle)
            .read_only(true)
            .run(|_, _| "its server is away");
        // An invalid tool name is reported when the invoker is built.
        made.extend(tool);
    };
    let may_be_missing = |name: &String| absent.is_none_or(|absent| absent.contains(name));
    let names = |group| configured_names(config, group, absent.unwrap_or_default());
    for name in names("tools").iter().filter(|name| may_be_missing(name)) {
        if registry.get(name).is_none() {
            add(name, "away");
        }
    }
    let bundles = registry.bundles();
    let configured = names("bundles").into_iter();
    let unknown = configured.filter(|name| !bundles.iter().any(|bundle| **bundle == **name));
    for (number, bundle) in unknown.filter(may_be_missing).enumerate() {
        add(&format!("stand_in_{number}"), &bundle);
    }
    made
}

/// The names of `[GROUP.NAME]`, and those that a variable of the environment may have: one of `absent`, or its beginning.
fn configured_names(config: &Config, group: &str, absent: &[String]) -> BTreeSet<String> {
    let keys = config.keys_under(group).into_iter();
    let names = keys.filter_map(|key| {
        let rest = key.strip_prefix(group)?.strip_prefix('.')?;
        Some(rest.rsplit_once('.')?.0.to_owned())
    });
    let mut names: BTreeSet<String> = names.collect();
    let prefix = config.variable_name(group) + "_";
    for variable in config.variables_under(group) {
        let rest = variable.strip_prefix(&prefix).unwrap_or_default();
        let ends = rest.match_indices('_').filter_map(|(end, _)| rest.get(..end));
        names.extend(ends.map(str::to_lowercase));
        let is_of = |name: &&String| {
            variable.starts_with(&(config.variable_name(&format!("{group}.{name}")) + "_"))
        };
        names.extend(absent.iter().filter(is_of).cloned());
    }
    names
}
