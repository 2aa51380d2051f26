//! A vendor, a model's name and some settings in, the model out.

use std::fmt;
use std::sync::Arc;

use toolwright_chat::{Model, ModelError, ModelErrorKind, ModelId};
use toolwright_core::{Config, Secret};

use super::{ProtocolKind, Vendor};
use crate::client::{ConnectionSettings, RemoteModel, Timeouts};
use crate::protocol::anthropic::Anthropic;
use crate::protocol::gemini::Gemini;
use crate::protocol::ollama::Ollama;
use crate::protocol::openai_chat::OpenAiChat;
use crate::protocol::openai_responses::OpenAiResponses;
#[cfg(feature = "http")]
use crate::transport::HttpTransport;
use crate::transport::{Transport, is_loopback};

/// How a model is reached; made by [`Vendor::model`].
///
/// Nothing is read from anywhere unless [`Connect::config`] says where. Then each of these counts unless the one before it is
/// set, and a blank value is not set:
///
/// | | key | address | headers |
/// |---|---|---|---|
/// | said here | [`Connect::key`] | [`Connect::base`] | [`Connect::header`] |
/// | a flag, or our variable | `models.<vendor>.key`, `TOOLWRIGHT_MODELS_<VENDOR>_KEY` | `models.<vendor>.base_url`, … | `models.<vendor>.headers.<name>`, … |
/// | the vendor's variable | [`Vendor::key_variable`] | [`Vendor::base_variable`] | |
/// | the config file | `models.<vendor>.key` | `models.<vendor>.base_url` | `models.<vendor>.headers.<name>` |
/// | the vendor's row | | [`Vendor::base`] | |
///
/// A key is sent over plain `http` only to this machine, or to an address that was said here or in our own settings: not to one
/// that a vendor's variable happens to hold.
///
/// # Examples
///
/// ```
/// use toolwright_core::{Config, ConfigSources};
/// use toolwright_models::Vendor;
///
/// let environment = [("ANTHROPIC_API_KEY".to_owned(), "a key".to_owned())];
/// let config = Config::load(ConfigSources::new().environment(environment))?.config;
/// let model = Vendor::named("anthropic")?.model("claude-sonnet-4-5").config(&config).build()?;
/// assert_eq!(model.id().to_string(), "anthropic:claude-sonnet-4-5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ModelBuilder {
    pub(super) vendor: &'static Vendor,
    pub(super) model_name: String,
    pub(super) api_key: Option<Secret>,
    pub(super) base_url: Option<String>,
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) timeouts: Timeouts,
    pub(super) transport: Option<Arc<dyn Transport>>,
    pub(super) streaming: bool,
    pub(super) config: Option<Config>,
}

impl ModelBuilder {
    pub(super) fn new(vendor: &'static Vendor, name: String) -> Self {
        Self {
            vendor,
            model_name: name,
            api_key: None,
            base_url: None,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            transport: None,
            streaming: true,
            config: None,
        }
    }

    /// Starts to connect to a model that is named with its vendor, as `openai:gpt-5`.
    ///
    /// # Errors
    ///
    /// It is not named so, or there is no such vendor.
    pub fn for_model(model: &str) -> Result<Self, ModelError> {
        match model.split_once(':') {
            Some((vendor, name)) if !name.trim().is_empty() => {
                Ok(Vendor::by_name(vendor.trim())?.model(name.trim()))
            }
            _ => {
                let message = format!("`{model}` is no model: write VENDOR:NAME, as openai:gpt-5");
                Err(ModelError::new(ModelErrorKind::BadRequest, message))
            }
        }
    }

    /// Sets the key.
    pub fn api_key(mut self, key: Secret) -> Self {
        self.api_key = Some(key);
        self
    }

    /// Sets the address that paths are below, as `https://api.openai.com/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Adds a header to every request; its value is kept as a secret.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Sets how long to wait for what.
    pub fn timeouts(mut self, patience: Timeouts) -> Self {
        self.timeouts = patience;
        self
    }

    /// Sets what carries the requests, instead of an [`Http`] of its own.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Sets whether answers are asked for piece by piece, which is usual; otherwise each comes at once when it is whole.
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Reads what is not said here from settings and variables.
    pub fn config(mut self, config: &Config) -> Self {
        self.config = Some(config.clone());
        self
    }

    /// Makes the model; nothing is connected before it is asked something.
    ///
    /// # Errors
    ///
    /// A key or an address is missing where one is needed, or a setting cannot be used.
    pub fn build(self) -> Result<Arc<dyn Model>, ModelError> {
        let (base, is_ours) = self.resolve_base_url()?;
        let headers = self.resolve_headers()?;
        let has_secret = headers.iter().any(|header| header.sensitive);
        if has_secret && base.scheme() == "http" && !is_loopback(&base) && !is_ours {
            let host = base.host_str().unwrap_or_default();
            let message = format!(
                "the key of {} would go to {host} unencrypted, because {} says so: if that is meant, set {}",
                self.vendor.name,
                self.vendor.base_url_variable.unwrap_or("a variable"),
                self.setting_key("base_url"),
            );
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        }
        let id = ModelId::new(self.vendor.name, self.model_name);
        let transport = match self.transport {
            Some(transport) => transport,
            None => default_transport(&self.timeouts)?,
        };
        let connection = ConnectionSettings {
            base_url: base,
            headers,
            transport,
            timeouts: self.timeouts,
            streaming: self.streaming,
        };
        Ok(match self.vendor.protocol {
            ProtocolKind::OpenAiResponses => {
                Arc::new(RemoteModel::new(id, OpenAiResponses, connection)?)
            }
            ProtocolKind::OpenAiChat(dialect, quirks) => {
                let vendor = self.vendor.name;
                let protocol = OpenAiChat {
                    vendor,
                    dialect,
                    quirks,
                };
                Arc::new(RemoteModel::new(id, protocol, connection)?)
            }
            ProtocolKind::Anthropic => {
                Arc::new(RemoteModel::new(id, Anthropic::default(), connection)?)
            }
            ProtocolKind::Gemini => Arc::new(RemoteModel::new(id, Gemini, connection)?),
            ProtocolKind::Ollama => Arc::new(RemoteModel::new(id, Ollama, connection)?),
        })
    }
}

#[cfg(feature = "http")]
fn default_transport(patience: &Timeouts) -> Result<Arc<dyn Transport>, ModelError> {
    Ok(Arc::new(
        HttpTransport::new().connect_timeout(patience.connect),
    ))
}

#[cfg(not(feature = "http"))]
fn default_transport(_: &Timeouts) -> Result<Arc<dyn Transport>, ModelError> {
    let message = "no transport is set: set one with `ModelBuilder::transport`, or build with the feature `models` of toolwright";
    Err(ModelError::new(ModelErrorKind::BadRequest, message))
}

impl fmt::Debug for ModelBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect")
            .field("vendor", &self.vendor.name)
            .field("name", &self.model_name)
            .field("patience", &self.timeouts)
            .field("streaming", &self.streaming)
            .finish_non_exhaustive()
    }
}
