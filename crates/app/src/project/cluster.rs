//! The settings of `[cluster]`: the bus to the other nodes, and the name of this one.

use std::sync::Arc;

use toolwright_bus::{Bus, BusError};
use toolwright_chat::unique_node_name;
use toolwright_core::{Config, ConfigError, Origin};

use super::conversation_store::ConversationStore;
use crate::error::{AppError, error_chain};

const BUS_KEY: &str = "cluster.bus";
const NODE_KEY: &str = "cluster.node";

/// In place of a URL: the bus is in the database of the store.
const STORE_BUS: &str = "store";

/// The longest name of a node.
const MAX_NODE_NAME: usize = 64;

/// Opens the bus that `--bus` or the setting `cluster.bus` names, else takes that of the program; `None` for a single node.
///
/// A bus that cannot be reached is no error.
pub(crate) async fn open_bus(
    config: &Config,
    store: &ConversationStore,
    program_bus: Option<Arc<dyn Bus>>,
) -> Result<Option<Arc<dyn Bus>>, AppError> {
    let origin = config.origin(BUS_KEY);
    let Some(url) = config.get_optional::<String>(BUS_KEY)? else {
        // Nodes in one process may share any store that the program has opened.
        return match program_bus {
            Some(_) if store.url().is_some() && !store.is_of_cluster() => {
                Err(with_origin(origin, &unshared_store_message(store)))
            }
            bus => Ok(bus),
        };
    };
    let url = match (url.as_str(), store.url()) {
        (STORE_BUS, Some(url)) => url.to_owned(),
        (STORE_BUS, None) => {
            let message = "`store` is the database that --store or the setting `store` names, and the program has \
                opened its store itself: name the database of the bus";
            return Err(with_origin(origin, message));
        }
        _ => url,
    };
    if !store.is_of_cluster() {
        return Err(with_origin(origin, &unshared_store_message(store)));
    }
    let opened = toolwright_bus::open(&url).await;
    Ok(Some(opened.map_err(|error| open_error(origin, &error))?))
}

/// The name of this process among the nodes, under which it holds leases: that of the setting `cluster.node`, else of the machine
/// with a suffix that no other process has.
///
/// A process that is restarted under the same name resumes its turns at once, without waiting for its leases to expire.
pub(crate) fn node_name(config: &Config) -> Result<String, AppError> {
    let Some(name) = config.get_optional::<String>(NODE_KEY)? else {
        return Ok(unique_node_name(&host_name()));
    };
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace();
    if name.chars().count() > MAX_NODE_NAME || !name.chars().all(is_plain) {
        return Err(AppError::from_error(&ConfigError::Invalid {
            key: NODE_KEY.to_owned(),
            origin: config.origin(NODE_KEY).cloned().unwrap_or(Origin::Default),
            problem: format!("a name has at most {MAX_NODE_NAME} characters, and no spaces"),
        }));
    }
    Ok(name)
}

#[cfg(unix)]
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "node".to_owned())
}

fn unshared_store_message(store: &ConversationStore) -> String {
    format!(
        "a bus connects nodes that share a store, and {} is for one node: pass --store postgres://HOST/DATABASE, or no bus",
        store.name()
    )
}

/// Names the setting or flag that the URL came from. An error of `--bus` is one of the command line.
fn open_error(origin: Option<&Origin>, error: &BusError) -> AppError {
    let message = format!("{}; `{STORE_BUS}` is the database of the store", error_chain(error));
    with_origin(origin, &message)
}

fn with_origin(origin: Option<&Origin>, message: &str) -> AppError {
    match origin {
        Some(Origin::Flag { name }) => AppError::usage(format!("{name}: {message}")),
        Some(origin) => AppError::new(format!("{origin}: {message}")),
        None => AppError::new(message),
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    fn name(setting: &str) -> Result<String, String> {
        let defaults = [(NODE_KEY.to_owned(), setting.to_owned())];
        let loaded = Config::load(ConfigSources::new().defaults(defaults));
        let config = loaded.map_err(|error| error.to_string())?.config;
        node_name(&config).map_err(|error| error.to_string())
    }

    #[test]
    fn a_process_has_the_name_of_the_setting_or_one_of_its_own() {
        assert_eq!(name("eu-1"), Ok("eu-1".to_owned()));
        let [one, two] = [name(""), name("")].map(Result::unwrap_or_default);
        assert!(one.starts_with(&format!("{}-", host_name())), "{one}");
        assert_ne!(one, two);
    }

    #[test]
    fn a_name_with_spaces_or_of_great_length_is_rejected() {
        for setting in ["eu 1", "eu\u{7}", &"x".repeat(MAX_NODE_NAME + 1)] {
            let error = name(setting).err().unwrap_or_default();
            assert!(error.contains("cluster.node") && error.contains("no spaces"), "{error}");
        }
    }
}
