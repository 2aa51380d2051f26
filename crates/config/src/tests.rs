//! Tests of settings: sources, types, errors and display.

use super::{ConfigError, ConfigSources, Settings};

mod hosted;
mod layers;
mod reading;
mod showing;

fn load(sources: ConfigSources) -> (Settings, Vec<String>) {
    sources.load().unwrap()
}

/// Settings of a properties file of this text.
fn properties(text: &str) -> Settings {
    written("toolwright.properties", text).0
}

/// Settings of a TOML file of this text.
fn toml(text: &str) -> Settings {
    written("toolwright.toml", text).0
}

fn written(name: &str, text: &str) -> (Settings, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(name), text).unwrap();
    load(ConfigSources::new().directory(directory.path()))
}

fn variables(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    variables.iter().map(owned).collect()
}

fn environment(given: &[(&str, &str)]) -> Settings {
    load(ConfigSources::new().environment(variables(given))).0
}

fn message<T>(result: Result<T, ConfigError>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}
