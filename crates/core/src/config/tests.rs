//! Tests of settings: sources, types, errors and display.

use super::{Config, ConfigError, ConfigSources, LoadedConfig};

mod hosted;
mod layers;
mod reading;
mod showing;

fn load(sources: ConfigSources) -> LoadedConfig {
    Config::load(sources).unwrap()
}

/// Settings of a properties file of this text.
fn properties(text: &str) -> Config {
    written("toolwright.properties", text).config
}

/// Settings of a TOML file of this text.
fn toml(text: &str) -> Config {
    written("toolwright.toml", text).config
}

fn written(name: &str, text: &str) -> LoadedConfig {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(name), text).unwrap();
    load(ConfigSources::new().directory(directory.path()))
}

fn variables(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    variables.iter().map(owned).collect()
}

fn environment(given: &[(&str, &str)]) -> Config {
    load(ConfigSources::new().environment(variables(given))).config
}

fn message<T>(result: Result<T, ConfigError>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}
