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
    for name in configured_names(config, "tools").iter().filter(|name| may_be_missing(name)) {
        if registry.get(name).is_none() {
            add(name, "away");
        }
    }
    let bundles = registry.bundles();
    let configured = configured_names(config, "bundles").into_iter();
    let unknown = configured.filter(|name| !bundles.iter().any(|bundle| **bundle == **name));
    for (number, bundle) in unknown.filter(may_be_missing).enumerate() {
        add(&format!("stand_in_{number}"), &bundle);
    }
    made
}

/// The names of `[GROUP.NAME]`.
fn configured_names(config: &Config, group: &str) -> BTreeSet<String> {
    let keys = config.keys_under(group).into_iter();
    let names = keys.filter_map(|key| {
        let rest = key.strip_prefix(group)?.strip_prefix('.')?;
        Some(rest.rsplit_once('.')?.0.to_owned())
    });
    names.collect()
}
