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

use crate::client::list_ollama_models;
use crate::protocol::Protocol as _;
use crate::protocol::anthropic::Anthropic;
use crate::protocol::gemini::Gemini;
use crate::protocol::ollama::Ollama;
use crate::protocol::openai_chat::Quirks;
use crate::protocol::openai_responses::OpenAiResponses;
use crate::transport::Transport;

pub use model_builder::ModelBuilder;

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
    /// The header for the API key; in `authorization` it is a bearer token.
    api_key_header: &'static str,
    protocol: ProtocolKind,
}

/// The protocol of a vendor, with its parameters.
#[derive(Clone, Copy, Debug)]
enum ProtocolKind {
    OpenAiResponses,
    OpenAiChat(Dialect, Quirks),
    Anthropic,
    Gemini,
    Ollama,
}

/// A row with the defaults: an API key is required, and sent as a bearer token.
const fn vendor_with_bearer_key(
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
        api_key_header: "authorization",
        protocol,
    }
}

const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
const OPENAI_CHAT: ProtocolKind = ProtocolKind::OpenAiChat(Dialect::OPENAI, Quirks::OPENAI);
const OPENAI_COMPATIBLE: ProtocolKind =
    ProtocolKind::OpenAiChat(Dialect::OPENAI, Quirks::COMPATIBLE);

/// Azure has no default base URL: each resource has its own, and its deployments are the models.
///
/// Requests go to `/openai/v1`, which implements OpenAI's API and needs no `api-version`.
const AZURE: Vendor = Vendor {
    base_url: None,
    base_url_variable: Some("AZURE_OPENAI_ENDPOINT"),
    api_key_header: "api-key",
    ..vendor_with_bearer_key("azure", "", "AZURE_OPENAI_API_KEY", ProtocolKind::OpenAiResponses)
};

/// All supported vendors.
pub static VENDORS: &[Vendor] = &[
    Vendor {
        base_url_variable: Some("OPENAI_BASE_URL"),
        ..vendor_with_bearer_key(
            "openai",
            OPENAI_BASE_URL,
            "OPENAI_API_KEY",
            ProtocolKind::OpenAiResponses,
        )
    },
    Vendor {
        base_url_variable: Some("OPENAI_BASE_URL"),
        ..vendor_with_bearer_key("openai-chat", OPENAI_BASE_URL, "OPENAI_API_KEY", OPENAI_CHAT)
    },
    Vendor {
        base_url_variable: Some("ANTHROPIC_BASE_URL"),
        api_key_header: "x-api-key",
        ..vendor_with_bearer_key(
            "anthropic",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            ProtocolKind::Anthropic,
        )
    },
    Vendor {
        base_url_variable: Some("GEMINI_BASE_URL"),
        api_key_header: "x-goog-api-key",
        ..vendor_with_bearer_key(
            "gemini",
            "https://generativelanguage.googleapis.com",
            "GEMINI_API_KEY",
            ProtocolKind::Gemini,
        )
    },
    Vendor {
        base_url_variable: Some("OLLAMA_HOST"),
        requires_api_key: false,
        ..vendor_with_bearer_key(
            "ollama",
            "http://127.0.0.1:11434",
            "OLLAMA_API_KEY",
            ProtocolKind::Ollama,
        )
    },
    AZURE,
    Vendor { name: "azure-chat", protocol: OPENAI_CHAT, ..AZURE },
    Vendor {
        base_url_variable: Some("GROQ_BASE_URL"),
        ..vendor_with_bearer_key(
            "groq",
            "https://api.groq.com/openai/v1",
            "GROQ_API_KEY",
            ProtocolKind::OpenAiChat(Dialect::GROQ, Quirks::GROQ),
        )
    },
    vendor_with_bearer_key(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        ProtocolKind::OpenAiChat(Dialect::MISTRAL, Quirks::MISTRAL),
    ),
    vendor_with_bearer_key(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        ProtocolKind::OpenAiChat(Dialect::DEEPSEEK, Quirks::DEEPSEEK),
    ),
    vendor_with_bearer_key(
        "xai",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        ProtocolKind::OpenAiChat(Dialect::XAI, Quirks::XAI),
    ),
    vendor_with_bearer_key(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        ProtocolKind::OpenAiChat(Dialect::PORTABLE, Quirks::OPENROUTER),
    ),
    Vendor {
        base_url_variable: Some("TOGETHER_BASE_URL"),
        ..vendor_with_bearer_key(
            "together",
            "https://api.together.xyz/v1",
            "TOGETHER_API_KEY",
            ProtocolKind::OpenAiChat(Dialect::PORTABLE, Quirks::COMPATIBLE),
        )
    },
    Vendor {
        requires_api_key: false,
        ..vendor_with_bearer_key(
            "vllm",
            "http://127.0.0.1:8000/v1",
            "VLLM_API_KEY",
            OPENAI_COMPATIBLE,
        )
    },
    Vendor {
        requires_api_key: false,
        ..vendor_with_bearer_key(
            "llama.cpp",
            "http://127.0.0.1:8080/v1",
            "LLAMA_API_KEY",
            OPENAI_COMPATIBLE,
        )
    },
    Vendor {
        requires_api_key: false,
        ..vendor_with_bearer_key(
            "lm-studio",
            "http://127.0.0.1:1234/v1",
            "LM_API_TOKEN",
            OPENAI_COMPATIBLE,
        )
    },
];

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
            let hint = did_you_mean(name, names.iter().copied()).map(|hint| hint + " ");
            let (hint, names) = (hint.unwrap_or_default(), names.join(", "));
            let message = format!("there is no vendor `{name}`: {hint}there are {names}");
            ModelError::new(ModelErrorKind::BadRequest, message)
        })
    }

    /// Returns the dialect that tool schemas are lowered to, without strict mode.
    pub fn dialect(&self) -> Dialect {
        match self.protocol {
            ProtocolKind::OpenAiResponses => OpenAiResponses.dialect(),
            ProtocolKind::OpenAiChat(dialect, _) => dialect,
            ProtocolKind::Anthropic => Anthropic::default().dialect(),
            ProtocolKind::Gemini => Gemini.dialect(),
            ProtocolKind::Ollama => Ollama.dialect(),
        }
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
        let ProtocolKind::Ollama = self.protocol else {
            let message = format!("the models of {} cannot be listed", self.name);
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        };
        let (base_url, headers) = self.model("").config(config).resolve_endpoint()?;
        list_ollama_models(transport, &base_url, headers).await
    }

    /// Returns a builder for one of its models.
    pub fn model(&'static self, name: impl Into<String>) -> ModelBuilder {
        ModelBuilder::new(self, name.into())
    }
}
