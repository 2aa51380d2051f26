//! The table of vendors: the protocol, base URL, API key and environment variables of each.

mod base_url;
mod model_builder;
mod settings;

#[cfg(test)]
mod tests;

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::Config;
use toolwright_core::schema::{Dialect, did_you_mean};
use url::Url;

use crate::client::{EmbeddingShape, list_ollama_models, with_vendor};
use crate::protocol::openai_chat::Quirks;
use crate::protocol::{Protocol, anthropic, gemini, ollama, openai_chat, openai_responses};
use crate::transport::Transport;

use ProtocolKind::{Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses};
pub use model_builder::ModelBuilder;
pub(crate) use settings::config_error;

/// A company or a program that serves models, and how its API is called.
#[derive(Debug)]
#[non_exhaustive]
pub struct Vendor {
    /// The part before the colon in `VENDOR:MODEL`.
    pub name: &'static str,
    /// The default base URL; `None` if every account has its own.
    pub base_url: Option<&'static str>,
    /// The environment variable for the base URL, if the vendor's own programs read one.
    pub base_url_variable: Option<&'static str>,
    /// The environment variable for the API key.
    pub api_key_variable: &'static str,
    /// Whether building a model without an API key is an error.
    pub requires_api_key: bool,
    /// The command that starts the vendor's server on this machine, if it is a program.
    pub start_command: Option<&'static str>,
    /// The header for the API key; in `authorization` it is a bearer token.
    api_key_header: &'static str,
    protocol: ProtocolKind,
}

/// The protocol of a vendor, with its deviations.
#[derive(Clone, Copy, Debug)]
enum ProtocolKind {
    OpenAiResponses,
    OpenAiChat(Quirks),
    Anthropic,
    Gemini,
    Ollama,
}

/// A row with the defaults: an API key is required, and sent as a bearer token.
const fn vendor(
    name: &'static str,
    base_url: &'static str,
    api_key_variable: &'static str,
    protocol: ProtocolKind,
) -> Vendor {
    Vendor {
        name,
        base_url: Some(base_url),
        base_url_variable: None,
        api_key_variable,
        requires_api_key: true,
        start_command: None,
        api_key_header: "authorization",
        protocol,
    }
}

const OPENAI: Vendor = Vendor {
    base_url_variable: Some("OPENAI_BASE_URL"),
    ..vendor("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", OpenAiResponses)
};

/// Azure has no default base URL: each resource has its own, and its deployments are the models.
///
/// Requests go to `/openai/v1`, which implements OpenAI's API and needs no `api-version`.
const AZURE: Vendor = Vendor {
    base_url: None,
    base_url_variable: Some("AZURE_OPENAI_ENDPOINT"),
    api_key_header: "api-key",
    ..vendor("azure", "", "AZURE_OPENAI_API_KEY", OpenAiResponses)
};

/// A server on this machine that imitates OpenAI's API.
const fn local(
    name: &'static str,
    url: &'static str,
    api_key_variable: &'static str,
    start_command: &'static str,
) -> Vendor {
    Vendor {
        requires_api_key: false,
        start_command: Some(start_command),
        ..vendor(name, url, api_key_variable, OpenAiChat(Quirks::COMPATIBLE))
    }
}

/// Makes the table of vendors, and for each row the function that starts building one of its models.
macro_rules! vendors {
    ($($(#[$doc:meta])* $name:ident => $row:expr;)*) => {
        /// All supported vendors.
        pub static VENDORS: &[Vendor] = &[$($row),*];

        /// One function per vendor.
        pub(crate) mod constructors {
            use super::*;
            $(
                $(#[$doc])*
                ///
                /// See [`ModelBuilder`] for the API key and the base URL.
                pub fn $name(model: impl Into<String>) -> ModelBuilder {
                    static VENDOR: Vendor = $row;
                    VENDOR.model(model)
                }
            )*
        }
    };
}

vendors! {
    /// Starts building a model of OpenAI, called over the Responses API.
    openai => OPENAI;
    /// Starts building a model of OpenAI, called over Chat Completions.
    openai_chat => Vendor { name: "openai-chat", protocol: OpenAiChat(Quirks::OPENAI), ..OPENAI };
    /// Starts building a model of Anthropic.
    anthropic => Vendor {
        base_url_variable: Some("ANTHROPIC_BASE_URL"),
        api_key_header: "x-api-key",
        ..vendor("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", Anthropic)
    };
    /// Starts building a Gemini model of Google.
    gemini => Vendor {
        base_url_variable: Some("GEMINI_BASE_URL"),
        api_key_header: "x-goog-api-key",
        ..vendor("gemini", "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", Gemini)
    };
    /// Starts building a model that Ollama serves, by default on this machine.
    ollama => Vendor {
        base_url_variable: Some("OLLAMA_HOST"),
        requires_api_key: false,
        start_command: Some("ollama serve"),
        ..vendor("ollama", "http://127.0.0.1:11434", "OLLAMA_API_KEY", Ollama)
    };
    /// Starts building a model of Azure OpenAI, called over the Responses API; its name is that of the deployment.
    azure => AZURE;
    /// Starts building a model of Azure OpenAI, called over Chat Completions; its name is that of the deployment.
    azure_chat => Vendor { name: "azure-chat", protocol: OpenAiChat(Quirks::OPENAI), ..AZURE };
    /// Starts building a model of Groq.
    groq => Vendor {
        base_url_variable: Some("GROQ_BASE_URL"),
        ..vendor("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", OpenAiChat(Quirks::GROQ))
    };
    /// Starts building a model of Mistral.
    mistral => vendor("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", OpenAiChat(Quirks::MISTRAL));
    /// Starts building a model of DeepSeek.
    deepseek => vendor("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", OpenAiChat(Quirks::DEEPSEEK));
    /// Starts building a model of xAI.
    xai => vendor("xai", "https://api.x.ai/v1", "XAI_API_KEY", OpenAiChat(Quirks::XAI));
    /// Starts building a model behind OpenRouter.
    openrouter => vendor(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        OpenAiChat(Quirks::OPENROUTER),
    );
    /// Starts building a model of Together AI.
    together => Vendor {
        base_url_variable: Some("TOGETHER_BASE_URL"),
        ..vendor(
            "together",
            "https://api.together.xyz/v1",
            "TOGETHER_API_KEY",
            OpenAiChat(Quirks::TOGETHER),
        )
    };
    /// Starts building a model that vLLM serves, by default on this machine.
    vllm => local("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", "vllm serve MODEL");
    /// Starts building a model that llama.cpp serves, by default on this machine.
    llama_cpp => local("llama.cpp", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY", "llama-server -m FILE");
    /// Starts building a model that LM Studio serves, by default on this machine.
    lm_studio => local("lm-studio", "http://127.0.0.1:1234/v1", "LM_API_TOKEN", "lms server start");
}

impl Vendor {
    /// Returns the vendor with this name.
    ///
    /// # Errors
    ///
    /// There is no such vendor; the message lists all names.
    pub fn by_name(name: &str) -> Result<&'static Self, ModelError> {
        let vendor = VENDORS.iter().find(|vendor| vendor.name == name);
        vendor.ok_or_else(|| {
            let names: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name).collect();
            unknown_vendor(name, &names)
        })
    }

    /// Returns the dialect that tool schemas are lowered to, without strict mode.
    pub fn dialect(&self) -> Dialect {
        self.protocol().dialect()
    }

    /// Returns true if settings or environment variables have an API key, with the precedence of [`ModelBuilder`].
    pub fn has_api_key(&'static self, config: &Config) -> bool {
        let key = self.model("").config(config).resolve_api_key();
        key.is_ok_and(|key| key.is_some())
    }

    /// Returns the base URL that its models use, with the precedence of [`ModelBuilder`].
    ///
    /// # Errors
    ///
    /// It is missing, or not a URL.
    pub fn resolve_base_url(&'static self, config: &Config) -> Result<Url, ModelError> {
        let (base_url, _) = self.model("").config(config).resolve_base_url()?;
        Ok(base_url)
    }

    /// Lists the names of its models, the last changed first; only for Ollama.
    ///
    /// The request goes to the same base URL, with the same headers, as those of a model with these settings. There is no
    /// timeout besides the transport's.
    ///
    /// # Errors
    ///
    /// The vendor is not Ollama, a setting is invalid, or there is no valid response.
    pub async fn list_models(
        &'static self,
        config: &Config,
        transport: &dyn Transport,
    ) -> Result<Vec<String>, ModelError> {
        let Ollama = self.protocol else {
            let message = format!("the models of {} cannot be listed", self.name);
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        };
        let (base_url, headers) = self.model("").config(config).resolve_endpoint()?;
        let models = list_ollama_models(transport, &base_url, headers).await;
        models.map_err(|error| with_vendor(error, self.name, &base_url, false))
    }

    /// Returns a builder for one of its models.
    pub fn model(&'static self, name: impl Into<String>) -> ModelBuilder {
        ModelBuilder::new(self, name.into())
    }

    /// Returns the shape of its embedding endpoint, if it has one that is supported.
    fn embedding_shape(&self) -> Option<EmbeddingShape> {
        match self.protocol {
            OpenAiResponses | OpenAiChat(_) => Some(EmbeddingShape::OpenAi),
            Ollama => Some(EmbeddingShape::Ollama),
            Anthropic | Gemini => None,
        }
    }

    fn protocol(&self) -> Box<dyn Protocol> {
        match self.protocol {
            OpenAiResponses => Box::new(openai_responses::OpenAiResponses),
            OpenAiChat(quirks) => Box::new(openai_chat::OpenAiChat { vendor: self.name, quirks }),
            Anthropic => Box::new(anthropic::Anthropic),
            Gemini => Box::new(gemini::Gemini),
            Ollama => Box::new(ollama::Ollama),
        }
    }
}

/// Returns the error for an unknown vendor, which lists the known names.
pub(crate) fn unknown_vendor(name: &str, known: &[&str]) -> ModelError {
    let hint = did_you_mean(name, known.iter().copied()).map(|hint| hint + " ");
    let (hint, known) = (hint.unwrap_or_default(), known.join(", "));
    let message = format!("there is no vendor `{name}`: {hint}there are {known}");
    ModelError::new(ModelErrorKind::BadRequest, message)
}
