//! Builds the client of a model from its vendor, its name and settings.

use std::fmt;
use std::sync::Arc;

use toolwright_chat::{Model, ModelError, ModelErrorKind, ModelId};
use toolwright_core::{Config, Secret};
use toolwright_search::Embedder;

use super::Vendor;
use crate::client::{ConnectionSettings, RemoteEmbedder, RemoteModel, Timeouts};
use crate::transport::HttpTransport;
use crate::transport::Transport;

/// Builds the client of a model; made by a function of its vendor such as [`openai`](crate::openai), by
/// [`Vendor::model`] or by [`ModelBuilder::for_model`].
///
/// Environment variables are those of the process, and there is no config file, unless [`ModelBuilder::config`] sets both.
/// The first of these that is set and not blank counts:
///
/// | | API key | base URL | headers |
/// |---|---|---|---|
/// | the builder | [`ModelBuilder::api_key`] | [`ModelBuilder::base_url`] | [`ModelBuilder::header`] |
/// | a flag or Toolwright's variable | `models.<vendor>.key`, `TOOLWRIGHT_MODELS_<VENDOR>_KEY` | `models.<vendor>.base_url`, … | `models.<vendor>.headers.<name>`, … |
/// | the vendor's variable | [`Vendor::api_key_variable`] | [`Vendor::base_url_variable`] | |
/// | the config file | `models.<vendor>.key` | `models.<vendor>.base_url` | `models.<vendor>.headers.<name>` |
/// | the vendor's default | | [`Vendor::base_url`] | |
///
/// An API key is sent over plain `http` only to this machine, or to a base URL of the builder or of Toolwright's own settings:
/// not to one of a vendor's variable, which may have been set for another program.
///
/// # Examples
///
/// ```
/// use toolwright::models;
///
/// let model = models::openai("gpt-5").base_url("https://proxy.example/v1").api_key("a key").build()?;
/// assert_eq!(model.id().to_string(), "openai:gpt-5");
/// # Ok::<(), toolwright::chat::ModelError>(())
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
    pub(super) native_tool_search: Option<bool>,
    pub(super) custom_tools: Option<bool>,
    pub(super) tool_namespaces: Option<bool>,
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
            native_tool_search: None,
            custom_tools: None,
            tool_namespaces: None,
            config: None,
        }
    }

    /// Returns a builder for a model named with its vendor, as `openai:gpt-5`.
    ///
    /// # Errors
    ///
    /// The text is not `VENDOR:NAME`, or there is no such vendor.
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

    /// Sets the API key.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Sets the base URL that the endpoints' paths are appended to, as `https://api.openai.com/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Adds a header to every request; its value is treated as a secret.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Sets the timeouts and the number of retries.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets how often a request is retried after a transient error, 3 times by default.
    pub fn retries(mut self, retries: u32) -> Self {
        self.timeouts.retries = retries;
        self
    }

    /// Sets the transport; the default is an [`HttpTransport`](crate::HttpTransport).
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Sets whether responses are streamed, which is the default; otherwise the events come when the response is complete.
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Sets whether the server loads the tools that a search has found, as the vendor's own API does for its newer models.
    ///
    /// The default is the setting `models.<vendor>.native_tool_search`, else true for the vendor's own host: most servers that
    /// imitate its API do not know deferred tools.
    pub fn native_tool_search(mut self, native: bool) -> Self {
        self.native_tool_search = Some(native);
        self
    }

    /// Sets whether the server knows custom tools, as OpenAI's own API does for its newer models; otherwise they are functions.
    ///
    /// The default is the setting `models.<vendor>.custom_tools`, else true for the vendor's own host.
    pub fn custom_tools(mut self, custom: bool) -> Self {
        self.custom_tools = Some(custom);
        self
    }

    /// Sets whether the tools that a search has found are loaded in namespaces, one for each bundle: for models of OpenAI that
    /// [load them](Self::native_tool_search).
    ///
    /// The default is the setting `models.<vendor>.tool_namespaces`, else false.
    pub fn tool_namespaces(mut self, namespaces: bool) -> Self {
        self.tool_namespaces = Some(namespaces);
        self
    }

    /// Sets the settings and environment variables for everything that is not set with the builder.
    pub fn config(mut self, config: &Config) -> Self {
        self.config = Some(config.clone());
        self
    }

    /// Builds the model; it connects with its first request.
    ///
    /// # Errors
    ///
    /// A required API key or base URL is missing, or a setting is invalid.
    pub fn build(self) -> Result<Arc<dyn Model>, ModelError> {
        let (vendor, model_name) = (self.vendor, self.model_name.clone());
        let id = ModelId::new(vendor.name, model_name);
        let connection = self.connection()?;
        Ok(Arc::new(RemoteModel::new(id, vendor.protocol(), connection)?))
    }

    /// Builds an embedder for a search over tools; it connects with its first request.
    ///
    /// It uses `/embeddings` of the vendors that implement OpenAI's API, and `/api/embed` of Ollama, with the same settings as a
    /// model of the vendor.
    ///
    /// # Errors
    ///
    /// The vendor has no such endpoint, a required API key or base URL is missing, or a setting is invalid.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::models;
    ///
    /// let embedder = models::ollama("all-minilm").build_embedder()?;
    /// assert!(models::anthropic("claude").api_key("a key").build_embedder().is_err());
    /// # Ok::<(), toolwright::chat::ModelError>(())
    /// ```
    pub fn build_embedder(self) -> Result<Arc<dyn Embedder>, ModelError> {
        let (vendor, model_name) = (self.vendor, self.model_name.clone());
        let Some(shape) = vendor.embedding_shape() else {
            let message = format!(
                "{} has no embeddings: name a model of openai, ollama or another vendor with OpenAI's API",
                vendor.name
            );
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        };
        let connection = self.connection()?;
        let protocol = vendor.protocol();
        let embedder = RemoteEmbedder::new(vendor.name, model_name, shape, protocol, connection)?;
        Ok(Arc::new(embedder))
    }

    fn connection(self) -> Result<ConnectionSettings, ModelError> {
        let (base_url, headers) = self.resolve_endpoint()?;
        let native_tool_search =
            self.resolve_own_feature(self.native_tool_search, "native_tool_search", &base_url)?;
        let custom_tools =
            self.resolve_own_feature(self.custom_tools, "custom_tools", &base_url)?;
        let tool_namespaces = match self.tool_namespaces {
            Some(namespaces) => namespaces,
            None => self.configured_flag("tool_namespaces")?.unwrap_or(false),
        };
        let transport = match self.transport {
            Some(transport) => transport,
            None => default_transport(&self.timeouts)?,
        };
        Ok(ConnectionSettings {
            base_url,
            headers,
            transport,
            timeouts: self.timeouts,
            streaming: self.streaming,
            native_tool_search,
            custom_tools,
            tool_namespaces,
        })
    }
}

fn default_transport(timeouts: &Timeouts) -> Result<Arc<dyn Transport>, ModelError> {
    Ok(Arc::new(HttpTransport::new().connect_timeout(timeouts.connect)))
}

impl fmt::Debug for ModelBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelBuilder")
            .field("vendor", &self.vendor.name)
            .field("model_name", &self.model_name)
            .field("timeouts", &self.timeouts)
            .field("streaming", &self.streaming)
            .finish_non_exhaustive()
    }
}
