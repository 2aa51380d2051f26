//! The vendors, one row each: what they speak, where, and which variables say otherwise.

mod base_url;
mod model_builder;
mod settings;

#[cfg(test)]
mod tests;

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::Config;
use toolwright_core::schema::{Dialect, nearest};

use crate::protocol::Protocol as _;
use crate::protocol::anthropic::Anthropic;
use crate::protocol::gemini::Gemini;
use crate::protocol::ollama::Ollama;
use crate::protocol::openai_chat::Quirks;
use crate::protocol::openai_responses::OpenAiResponses;

pub use model_builder::ModelBuilder;

/// A company or a program that answers, and how it is spoken to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Vendor {
    /// The name before the colon of `VENDOR:MODEL`.
    pub name: &'static str,
    /// Where it is, unless said otherwise; none where everybody has an address of their own.
    pub base_url: Option<&'static str>,
    /// The variable that says otherwise, where the vendor's own programs read one.
    pub base_url_variable: Option<&'static str>,
    /// The variable that holds the key.
    pub api_key_variable: &'static str,
    /// Whether it answers nobody without a key.
    pub requires_api_key: bool,
    /// The header that carries the key; behind `authorization` it is a bearer's.
    api_key_header: &'static str,
    protocol: ProtocolKind,
}

/// The protocol a vendor speaks.
#[derive(Clone, Copy, Debug)]
enum ProtocolKind {
    OpenAiResponses,
    OpenAiChat(Dialect, Quirks),
    Anthropic,
    Gemini,
    Ollama,
}

/// A row to start from: a key is needed, and is a bearer's.
const fn vendor_with_bearer_key(
    name: &'static str,
    base: &'static str,
    key_variable: &'static str,
    wire: ProtocolKind,
) -> Vendor {
    Vendor {
        name,
        base_url: Some(base),
        base_url_variable: None,
        api_key_variable: key_variable,
        requires_api_key: true,
        api_key_header: "authorization",
        protocol: wire,
    }
}

const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
const OPENAI_CHAT: ProtocolKind = ProtocolKind::OpenAiChat(Dialect::OPENAI, Quirks::OPENAI);
const OPENAI_COMPATIBLE: ProtocolKind =
    ProtocolKind::OpenAiChat(Dialect::OPENAI, Quirks::COMPATIBLE);

/// Azure has no address that would do for everybody: it is that of a resource, and models are its deployments.
///
/// Requests go to `/openai/v1`, which speaks what OpenAI speaks and needs no `api-version`.
const AZURE: Vendor = Vendor {
    base_url: None,
    base_url_variable: Some("AZURE_OPENAI_ENDPOINT"),
    api_key_header: "api-key",
    ..vendor_with_bearer_key(
        "azure",
        "",
        "AZURE_OPENAI_API_KEY",
        ProtocolKind::OpenAiResponses,
    )
};

/// Every vendor.
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
        ..vendor_with_bearer_key(
            "openai-chat",
            OPENAI_BASE_URL,
            "OPENAI_API_KEY",
            OPENAI_CHAT,
        )
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
    Vendor {
        name: "azure-chat",
        protocol: OPENAI_CHAT,
        ..AZURE
    },
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
    /// Finds a vendor by its name.
    ///
    /// # Errors
    ///
    /// There is none of that name; the error names those there are.
    pub fn by_name(name: &str) -> Result<&'static Self, ModelError> {
        let found = VENDORS.iter().find(|vendor| vendor.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name).collect();
            let near = nearest(name, names.iter().copied(), 1);
            let near = near.first();
            let meant = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let message = format!(
                "there is no vendor `{name}`: {meant}there are {}",
                names.join(", ")
            );
            ModelError::new(ModelErrorKind::BadRequest, message)
        })
    }

    /// Returns the dialect that its tools are lowered to, without strict mode.
    pub fn dialect(&self) -> Dialect {
        match self.protocol {
            ProtocolKind::OpenAiResponses => OpenAiResponses.dialect(),
            ProtocolKind::OpenAiChat(dialect, _) => dialect,
            ProtocolKind::Anthropic => Anthropic::default().dialect(),
            ProtocolKind::Gemini => Gemini.dialect(),
            ProtocolKind::Ollama => Ollama.dialect(),
        }
    }

    /// Whether settings or variables hold a key for it, by the rules of [`Connect`].
    pub fn has_api_key(&'static self, config: &Config) -> bool {
        let key = self.model("").config(config).resolve_api_key();
        key.is_ok_and(|key| key.is_some())
    }

    /// Starts to connect to one of its models.
    pub fn model(&'static self, name: impl Into<String>) -> ModelBuilder {
        ModelBuilder::new(self, name.into())
    }
}
