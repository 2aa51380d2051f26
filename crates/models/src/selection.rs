//! Selects a model by settings and environment, as the command line does.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolwright_chat::{Model, ModelError, ModelErrorKind};
use toolwright_core::{Config, ConfigSources, Origin};

use crate::fallback::fallback;
use crate::transport::HttpTransport;
use crate::vendor::{VENDORS, Vendor, config_error, unknown_vendor};

/// Vendors in the order in which their API keys are looked for, each with the default model.
///
/// The names are those of the vendors' documentation on 2026-11-15: of each family the middle one.
const DEFAULT_MODELS: [(&str, &str); 3] =
    [("openai", "gpt-5.6-terra"), ("anthropic", "claude-sonnet-5"), ("gemini", "gemini-3.5-flash")];

/// The name of the model that needs no key and no network.
const DEMO_MODEL: &str = "demo";

/// The timeout of connecting to Ollama; short, because a program does not start until its model is selected.
const OLLAMA_CONNECT_TIMEOUT: Duration = Duration::from_millis(150);

/// A model, and why it was selected.
#[non_exhaustive]
pub struct SelectedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The reason, for people.
    pub reason: SelectionReason,
}

/// Why a model was selected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SelectionReason {
    /// The setting `model` names it.
    Setting(Origin),
    /// The API key of its vendor is set, as this variable or setting.
    ApiKey(String),
    /// No API key is set, and Ollama runs at this host and port.
    RunningOllama(String),
    /// The demo: no API key is set, and Ollama does not run.
    NoApiKey,
    /// The demo: no API key is set, and Ollama has no model.
    NoOllamaModel,
}

impl fmt::Display for SelectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(origin) => write!(f, "chosen by {origin}"),
            Self::ApiKey(name) => write!(f, "{name} is set"),
            Self::RunningOllama(address) => {
                write!(f, "Ollama is there ({address}) and no key is set")
            }
            Self::NoApiKey => f.write_str("no key is set"),
            Self::NoOllamaModel => f.write_str("no key is set and Ollama has no model"),
        }
    }
}

/// Selects a model by the environment of this process and the config file of the current directory, if there is one: see
/// [`from_config`].
///
/// # Errors
///
/// The config file cannot be read; otherwise as [`from_config`].
///
/// # Examples
///
/// ```no_run
/// use toolwright::chat::Chat;
/// use toolwright::{Invoker, Registry, models};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let selected = models::from_env().await?;
/// println!("{}: {}", selected.model.id(), selected.reason);
/// let chat = Chat::new(&Invoker::new(Registry::discover()?)?, selected.model);
/// # Ok(()) }
/// ```
pub async fn from_env() -> Result<SelectedModel, ModelError> {
    let sources = ConfigSources::from_process().directory(".");
    let loaded = Config::load(sources).map_err(config_error)?;
    from_config(&loaded.config).await
}

/// Selects the model that the setting `model` names, else that of the first vendor whose API key is set (OpenAI, Anthropic,
/// Gemini), else Ollama's if it runs, else the demo.
///
/// The setting is `VENDOR:NAME`, `VENDOR` for its default model, or a list of them (in an environment variable separated by
/// commas): the next one answers if one is overloaded or cannot be reached, see [`fallback`].
///
/// # Errors
///
/// The named model does not exist or cannot be built, a setting is invalid, or nothing is set; the message names what to set.
///
/// # Examples
///
/// ```
/// use toolwright::{Config, ConfigSources, models};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let sources = ConfigSources::new()
///     .defaults([("model", "openai:gpt-5, ollama:qwen3"), ("models.openai.key", "a key")]);
/// let selected = models::from_config(&Config::load(sources)?.config).await?;
/// assert_eq!(selected.model.id().to_string(), "openai:gpt-5");
/// assert_eq!(selected.reason.to_string(), "chosen by default");
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn from_config(config: &Config) -> Result<SelectedModel, ModelError> {
    let Some(origin) = config.origin("model") else {
        return select_automatically(config).await;
    };
    // A string of a config file is not converted to a list.
    let listed = config.get::<Vec<String>>("model").map(|names| names.join(","));
    let names = listed.or_else(|_| config.get("model")).map_err(config_error)?;
    let model = by_name(&names, config).await.map_err(|mut error| {
        error.message = format!("{origin}: {}", error.message);
        error
    })?;
    Ok(SelectedModel { model, reason: SelectionReason::Setting(origin.clone()) })
}

/// Builds the model of a name as the setting `model` has it: `VENDOR:NAME`, `VENDOR`, `demo`, or several separated by commas.
///
/// # Errors
///
/// The model does not exist or cannot be built; the message suggests what to write instead.
pub async fn by_name(names: &str, config: &Config) -> Result<Arc<dyn Model>, ModelError> {
    let names: Vec<&str> =
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut models = Vec::new();
    for (index, name) in names.iter().enumerate() {
        models.push(build_model(name, config, index + 1 < names.len()).await?);
    }
    fallback(models)
}

/// Returns the models that can be used without further configuration: the default ones of vendors whose API key is set, and
/// the demo.
pub fn available(config: &Config) -> Vec<Arc<dyn Model>> {
    let keyed = vendors_with_key(config).filter_map(|vendor| {
        let name = configured_model_name(vendor, config).ok()??;
        vendor.model(name).config(config).build().ok()
    });
    keyed.chain(demo_model()).collect()
}

/// Returns the names that are valid before the colon of `VENDOR:NAME`, and `demo`.
pub fn vendor_names() -> Vec<&'static str> {
    let demo = demo_model().map(|_| DEMO_MODEL);
    demo.into_iter().chain(VENDORS.iter().map(|vendor| vendor.name)).collect()
}

/// Builds one model. With a successor it does not retry: the next one answers at once.
async fn build_model(
    name: &str,
    config: &Config,
    has_successor: bool,
) -> Result<Arc<dyn Model>, ModelError> {
    let (vendor_name, name) = name.split_once(':').unwrap_or((name, ""));
    let (vendor_name, name) = (vendor_name.trim(), name.trim());
    if vendor_name == DEMO_MODEL
        && let Some(demo) = demo_model()
    {
        return match name {
            "" => Ok(demo),
            _ => Err(bad_request("`demo` has no other names: write demo")),
        };
    }
    let vendor = VENDORS.iter().find(|vendor| vendor.name == vendor_name);
    let vendor = vendor.ok_or_else(|| unknown_vendor(vendor_name, &vendor_names()))?;
    let name = match name {
        "" => default_model_name(vendor, config).await?,
        name => name.to_owned(),
    };
    let builder = vendor.model(name).config(config);
    match has_successor {
        true => builder.retries(0).build(),
        false => builder.build(),
    }
}

/// Returns the model of a vendor if only the vendor is named.
async fn default_model_name(
    vendor: &'static Vendor,
    config: &Config,
) -> Result<String, ModelError> {
    if let Some(name) = configured_model_name(vendor, config)? {
        return Ok(name);
    }
    let installed = match vendor.name {
        "ollama" => installed_models(vendor, config).await?,
        _ => Vec::new(),
    };
    installed.into_iter().next().ok_or_else(|| {
        let example = match vendor.name {
            "ollama" => "ollama:qwen3".to_owned(),
            other => format!("{other}:NAME"),
        };
        let vendor = vendor.name;
        bad_request(format!(
            "`{vendor}` needs the name of a model: write {example}, or set models.{vendor}.model"
        ))
    })
}

/// Returns the model that the settings or [`DEFAULT_MODELS`] have for a vendor.
fn configured_model_name(vendor: &Vendor, config: &Config) -> Result<Option<String>, ModelError> {
    let key = format!("models.{}.model", vendor.name);
    let configured: Option<String> = config.get_optional(&key).map_err(config_error)?;
    Ok(configured.or_else(|| {
        let default = DEFAULT_MODELS.iter().find(|(name, _)| *name == vendor.name);
        default.map(|(_, model)| (*model).to_owned())
    }))
}

/// Returns the vendors of [`DEFAULT_MODELS`] whose API key is set, in that order.
fn vendors_with_key(config: &Config) -> impl Iterator<Item = &'static Vendor> {
    let vendors = DEFAULT_MODELS.iter().filter_map(|(name, _)| Vendor::by_name(name).ok());
    vendors.filter(|vendor| vendor.has_api_key(config))
}

async fn select_automatically(config: &Config) -> Result<SelectedModel, ModelError> {
    if let Some(vendor) = vendors_with_key(config).next() {
        let key_name = match config.env_var(vendor.api_key_variable) {
            Some(_) => vendor.api_key_variable.to_owned(),
            None => format!("models.{}.key", vendor.name),
        };
        let model = by_name(vendor.name, config).await?;
        return Ok(SelectedModel { model, reason: SelectionReason::ApiKey(key_name) });
    }
    let mut reason = SelectionReason::NoApiKey;
    if let Some((address, installed)) = running_ollama(config).await {
        // Without a configured model the first one is the default: named here, so that the list is not requested again.
        let name = match (config.origin("models.ollama.model"), installed.first()) {
            (None, Some(first)) => format!("ollama:{first}"),
            _ => "ollama".to_owned(),
        };
        if let Ok(model) = by_name(&name, config).await {
            let reason = SelectionReason::RunningOllama(address);
            return Ok(SelectedModel { model, reason });
        }
        reason = SelectionReason::NoOllamaModel;
    }
    let keys = DEFAULT_MODELS.iter().filter_map(|(name, _)| Vendor::by_name(name).ok());
    let keys: Vec<&str> = keys.map(|vendor| vendor.api_key_variable).collect();
    match demo_model() {
        Some(model) => Ok(SelectedModel { model, reason }),
        None => Err(ModelError::new(
            ModelErrorKind::Auth,
            format!(
                "no model can be selected, because {reason}: set one of {}, or the model as VENDOR:NAME in TOOLWRIGHT_MODEL",
                keys.join(", ")
            ),
        )),
    }
}

/// Returns host and port of Ollama, and its models, if it runs.
async fn running_ollama(config: &Config) -> Option<(String, Vec<String>)> {
    let vendor = Vendor::by_name("ollama").ok()?;
    let url = vendor.resolve_base_url(config).ok()?;
    let address = format!("{}:{}", url.host_str()?, url.port_or_known_default()?);
    Some((address, installed_models(vendor, config).await.ok()?))
}

/// Returns the models of an Ollama server, the last changed first.
async fn installed_models(
    vendor: &'static Vendor,
    config: &Config,
) -> Result<Vec<String>, ModelError> {
    let transport = HttpTransport::new().connect_timeout(OLLAMA_CONNECT_TIMEOUT);
    let list = vendor.list_models(config, &transport);
    tokio::time::timeout(4 * OLLAMA_CONNECT_TIMEOUT, list).await.unwrap_or_else(|_| {
        let message = format!("{} did not list its models in time", vendor.name);
        Err(ModelError::new(ModelErrorKind::Timeout, message))
    })
}

fn demo_model() -> Option<Arc<dyn Model>> {
    Some(Arc::new(toolwright_demo::DemoModel::new()))
}

fn bad_request(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::BadRequest, message)
}

#[cfg(test)]
mod tests;
