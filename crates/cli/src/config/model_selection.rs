//! Selects the model: from `--model` or the settings, else by the first API key that is set.

use std::sync::Arc;
use std::time::Duration;

use toolwright_chat::Model;
use toolwright_core::schema::nearest;
use toolwright_core::{Config, Origin};
use toolwright_demo::DemoModel;
use toolwright_models::{HttpTransport, VENDORS, Vendor};

use crate::cli_error::{CliError, error_chain};

/// The name of the model that needs no key and no network.
const DEMO_MODEL: &str = "demo";

/// Vendors in the order in which their API keys are looked for, each with the default model.
///
/// The names are those of the vendors' documentation on 2026-11-15: of each family the middle one.
const DEFAULT_MODELS: [(&str, &str); 3] =
    [("openai", "gpt-5.6-terra"), ("anthropic", "claude-sonnet-5"), ("gemini", "gemini-3.5-flash")];

/// The timeout of connecting to Ollama; short, because the command does not start until the model is selected.
const OLLAMA_CONNECT_TIMEOUT: Duration = Duration::from_millis(150);

/// The model, and the reason for its selection, which is shown to the user.
pub(crate) struct SelectedModel {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) reason: String,
}

impl SelectedModel {
    /// `VENDOR:NAME: reason`, in one line.
    pub(crate) fn summary(&self) -> String {
        format!("{}: {}", self.model.id(), self.reason)
    }
}

/// Selects the model that `--model` or the settings name, else that of the first vendor whose key is set, else Ollama's if
/// it runs, else the demo.
pub(crate) fn select_model(config: &Config) -> Result<SelectedModel, CliError> {
    let Some(configured) = config.get_optional::<String>("model")? else {
        return select_automatically(config);
    };
    let origin = config.origin("model");
    let reason = origin.map_or_else(String::new, |origin| format!("chosen by {origin}"));
    resolve_model(&configured, config, reason).map_err(|message| match origin {
        Some(Origin::Flag { name }) => CliError::usage(format!("{name}: {message}")),
        Some(origin) => CliError::failure(format!("{origin}: {message}")),
        None => CliError::failure(message),
    })
}

/// Builds the model of a specification: `VENDOR:NAME`, `VENDOR` or `demo`. The error suggests what to write instead.
pub(crate) fn resolve_model(
    spec: &str,
    config: &Config,
    reason: String,
) -> Result<SelectedModel, String> {
    let spec = spec.trim();
    let (vendor, name) = match spec.split_once(':') {
        Some((vendor, name)) => (vendor.trim(), Some(name.trim())),
        None => (spec, None),
    };
    let name = name.filter(|name| !name.is_empty());
    if vendor == DEMO_MODEL {
        let demo = SelectedModel { model: demo_model(), reason };
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
    let builder = vendor.model(name).config(config);
    let model = builder.build().map_err(|error| error_chain(&error))?;
    Ok(SelectedModel { model, reason })
}

/// The names that are valid before the colon.
pub(crate) fn vendor_names() -> impl Iterator<Item = &'static str> {
    [DEMO_MODEL].into_iter().chain(VENDORS.iter().map(|vendor| vendor.name))
}

fn find_vendor(name: &str) -> Result<&'static Vendor, String> {
    Vendor::by_name(name).map_err(|_| {
        let nearest = nearest(name, vendor_names(), 1);
        let hint =
            nearest.first().map_or_else(String::new, |name| format!("did you mean `{name}`? "));
        let all: Vec<&str> = vendor_names().collect();
        format!("there is no vendor `{name}`: {hint}there are {}", all.join(", "))
    })
}

/// The model of a vendor if only the vendor is named.
fn default_model_name(vendor: &'static Vendor, config: &Config) -> Result<String, String> {
    let key = format!("models.{}.model", vendor.name);
    let configured = config.get_optional(&key).map_err(|error| error_chain(&error))?;
    if let Some(name) = configured {
        return Ok(name);
    }
    if let Some((_, name)) = DEFAULT_MODELS.iter().find(|(name, _)| *name == vendor.name) {
        return Ok((*name).to_owned());
    }
    let installed = match vendor.name {
        "ollama" => installed_models(vendor, config).and_then(|names| names.into_iter().next()),
        _ => None,
    };
    installed.ok_or_else(|| {
        let example = match vendor.name {
            "ollama" => "ollama:qwen3".to_owned(),
            other => format!("{other}:NAME"),
        };
        format!("`{}` needs the name of a model: write {example}, or set {key}", vendor.name)
    })
}

/// The models that can be used without further configuration: those of vendors whose key is set, and the demo.
pub(crate) fn available_models(config: &Config) -> Vec<String> {
    let keyed = vendors_with_key(config).filter_map(|vendor| {
        let name = default_model_name(vendor, config).ok()?;
        Some(format!("{}:{name}", vendor.name))
    });
    keyed.chain([DEMO_MODEL.to_owned()]).collect()
}

/// The vendors of [`DEFAULT_MODELS`] whose API key is set, in that order.
fn vendors_with_key(config: &Config) -> impl Iterator<Item = &'static Vendor> {
    let vendors = DEFAULT_MODELS.iter().filter_map(|(name, _)| Vendor::by_name(name).ok());
    vendors.filter(|vendor| vendor.has_api_key(config))
}

fn select_automatically(config: &Config) -> Result<SelectedModel, CliError> {
    if let Some(vendor) = vendors_with_key(config).next() {
        let key_name = match config.env_var(vendor.api_key_variable) {
            Some(_) => vendor.api_key_variable.to_owned(),
            None => format!("models.{}.key", vendor.name),
        };
        let reason = format!("{key_name} is set; --model chooses another");
        return resolve_model(vendor.name, config, reason).map_err(CliError::failure);
    }
    let mut reason = "no key is set; set OPENAI_API_KEY or pass --model";
    if let Some((address, installed)) = running_ollama(config) {
        let ollama_reason =
            format!("Ollama is there ({address}) and no key is set; --model chooses another");
        // Without a configured model the first one is the default: named here, so that the list is not requested again.
        let spec = match (config.origin("models.ollama.model"), installed.first()) {
            (None, Some(first)) => format!("ollama:{first}"),
            _ => "ollama".to_owned(),
        };
        match resolve_model(&spec, config, ollama_reason) {
            Ok(selected) => return Ok(selected),
            Err(_) => {
                reason = "no key is set and Ollama has no model; try `ollama pull qwen3`, or pass --model";
            }
        }
    }
    Ok(SelectedModel { model: demo_model(), reason: reason.to_owned() })
}

/// Host and port of Ollama, and its models, if it runs.
fn running_ollama(config: &Config) -> Option<(String, Vec<String>)> {
    let vendor = Vendor::by_name("ollama").ok()?;
    let url = vendor.resolve_base_url(config).ok()?;
    let address = format!("{}:{}", url.host_str()?, url.port_or_known_default()?);
    Some((address, installed_models(vendor, config)?))
}

/// The models of an Ollama server, the last changed first; `None` without a response. Blocks, so not for async functions.
fn installed_models(vendor: &'static Vendor, config: &Config) -> Option<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let names = runtime.block_on(async {
        let transport = HttpTransport::new().connect_timeout(OLLAMA_CONNECT_TIMEOUT);
        let list = vendor.list_models(config, &transport);
        tokio::time::timeout(4 * OLLAMA_CONNECT_TIMEOUT, list).await
    });
    // A host name may still be resolved on a thread, which is not waited for.
    runtime.shutdown_background();
    names.ok()?.ok()
}

fn demo_model() -> Arc<dyn Model> {
    Arc::new(DemoModel::new())
}

#[cfg(test)]
mod tests;
