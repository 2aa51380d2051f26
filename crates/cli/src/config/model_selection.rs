//! Settings in, the model that answers and the reason for it out.

use std::sync::Arc;

use toolwright_chat::Model;
use toolwright_core::schema::nearest;
use toolwright_core::{Config, Origin};
use toolwright_demo::DemoModel;
use toolwright_models::{VENDORS, Vendor};

use crate::cli_error::{CliError, error_chain};

mod ollama;

/// The model that needs no key and no network.
const DEMO_MODEL: &str = "demo";

/// Vendors in the order in which a key decides, each with a model for whoever names none.
///
/// The names are those of the vendors' documentation on 2026-11-15: of each family the middle one.
const DEFAULT_MODELS: [(&str, &str); 3] = [
    ("openai", "gpt-5.6-terra"),
    ("anthropic", "claude-sonnet-5"),
    ("gemini", "gemini-3.5-flash"),
];

/// A model, and why it is this one.
pub(crate) struct SelectedModel {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) reason: String,
}

impl SelectedModel {
    /// Who answers and why, in one line.
    pub(crate) fn summary(&self) -> String {
        format!("{}: {}", self.model.id(), self.reason)
    }
}

/// Chooses: what `--model` or the settings name, else the first vendor whose key is set, else Ollama where it runs, else
/// the demo.
pub(crate) fn select_model(config: &Config) -> Result<SelectedModel, CliError> {
    let wanted: Option<String> = config
        .get_optional("model")
        .map_err(|error| CliError::from_error(&error))?;
    let Some(wanted) = wanted else {
        return select_automatically(config);
    };
    let origin = config.origin("model");
    let why = origin.map_or_else(String::new, |origin| format!("chosen by {origin}"));
    resolve_model(&wanted, config, why).map_err(|message| match origin {
        Some(Origin::Flag { name }) => CliError::usage(format!("{name}: {message}")),
        Some(origin) => CliError::failure(format!("{origin}: {message}")),
        None => CliError::failure(message),
    })
}

/// Makes the model of a name, `VENDOR:NAME`, `VENDOR` or `demo`; an error says what to write instead.
pub(crate) fn resolve_model(
    wanted: &str,
    config: &Config,
    why: String,
) -> Result<SelectedModel, String> {
    let wanted = wanted.trim();
    let (vendor, name) = match wanted.split_once(':') {
        Some((vendor, name)) => (vendor.trim(), Some(name.trim())),
        None => (wanted, None),
    };
    let name = name.filter(|name| !name.is_empty());
    if vendor == DEMO_MODEL {
        let demo = SelectedModel {
            model: demo_model(),
            reason: why,
        };
        return match name {
            None => Ok(demo),
            Some(_) => Err("`demo` has no other names: write demo".to_owned()),
        };
    }
    let vendor = find_vendor(vendor)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => default_model_name(vendor, config)?,
    };
    let connect = vendor.model(name).config(config);
    let model = connect.build().map_err(|error| error_chain(&error))?;
    Ok(SelectedModel { model, reason: why })
}

/// Every name that may stand before the colon.
pub(crate) fn vendor_names() -> impl Iterator<Item = &'static str> {
    [DEMO_MODEL]
        .into_iter()
        .chain(VENDORS.iter().map(|vendor| vendor.name))
}

fn find_vendor(name: &str) -> Result<&'static Vendor, String> {
    Vendor::by_name(name).map_err(|_| {
        let near = nearest(name, vendor_names(), 1);
        let meant = near
            .first()
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let all: Vec<&str> = vendor_names().collect();
        format!(
            "there is no vendor `{name}`: {meant}there are {}",
            all.join(", ")
        )
    })
}

/// The model of a vendor for whoever names none.
fn default_model_name(vendor: &Vendor, config: &Config) -> Result<String, String> {
    let key = format!("models.{}.model", vendor.name);
    let set = config
        .get_optional(&key)
        .map_err(|error| error_chain(&error))?;
    if let Some(name) = set {
        return Ok(name);
    }
    if let Some((_, name)) = DEFAULT_MODELS.iter().find(|(name, _)| *name == vendor.name) {
        return Ok((*name).to_owned());
    }
    let found = match vendor.name {
        "ollama" => ollama::first_model(&ollama_address(config)),
        _ => None,
    };
    found.ok_or_else(|| {
        let example = match vendor.name {
            "ollama" => "ollama:qwen3".to_owned(),
            other => format!("{other}:NAME"),
        };
        format!(
            "`{}` needs the name of a model: write {example}, or set {key}",
            vendor.name
        )
    })
}

/// The models that need nothing more to be asked: those of vendors whose key is set, and the demo.
pub(crate) fn available_models(config: &Config) -> Vec<String> {
    let keyed = DEFAULT_MODELS.iter().filter_map(|(vendor, _)| {
        let row = Vendor::by_name(vendor).ok()?;
        let name = row
            .has_api_key(config)
            .then(|| default_model_name(row, config));
        Some(format!("{vendor}:{}", name?.ok()?))
    });
    keyed.chain([DEMO_MODEL.to_owned()]).collect()
}

fn select_automatically(config: &Config) -> Result<SelectedModel, CliError> {
    for (vendor, _) in DEFAULT_MODELS {
        let Ok(row) = Vendor::by_name(vendor) else {
            continue;
        };
        if row.has_api_key(config) {
            let set = match config.env_var(row.api_key_variable) {
                Some(_) => row.api_key_variable.to_owned(),
                None => format!("models.{vendor}.key"),
            };
            let why = format!("{set} is set; --model chooses another");
            return resolve_model(vendor, config, why).map_err(CliError::failure);
        }
    }
    let mut why = "no key is set; set OPENAI_API_KEY or pass --model";
    let address = ollama_address(config);
    if ollama::is_running(&address) {
        let there =
            format!("Ollama is there ({address}) and no key is set; --model chooses another");
        match resolve_model("ollama", config, there) {
            Ok(chosen) => return Ok(chosen),
            Err(_) => {
                why = "no key is set and Ollama has no model; try `ollama pull qwen3`, or pass --model";
            }
        }
    }
    let why = why.to_owned();
    Ok(SelectedModel {
        model: demo_model(),
        reason: why,
    })
}

/// Where Ollama may be found: as its own programs look for it.
fn ollama_address(config: &Config) -> String {
    let set: Option<String> = config
        .get_optional("models.ollama.base_url")
        .unwrap_or_default();
    let theirs = || config.env_var("OLLAMA_HOST");
    let theirs = || theirs().map(|address| address.expose().to_owned());
    let address = set.or_else(theirs);
    address.unwrap_or_else(|| "127.0.0.1:11434".to_owned())
}

fn demo_model() -> Arc<dyn Model> {
    Arc::new(DemoModel::new())
}

#[cfg(test)]
mod tests;
