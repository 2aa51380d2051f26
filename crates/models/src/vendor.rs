//! The vendors, one row each: what they speak, where, and which variables say otherwise.

mod address;
mod connect;
mod settings;

#[cfg(test)]
mod tests;

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::Config;
use toolwright_core::schema::{Dialect, nearest};

use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::ollama::Ollama;
use crate::openai_chat::Quirks;
use crate::openai_responses::OpenAiResponses;
use crate::protocol::Protocol as _;

pub use connect::Connect;

/// A company or a program that answers, and how it is spoken to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Vendor {
    /// The name before the colon of `VENDOR:MODEL`.
    pub name: &'static str,
    /// Where it is, unless said otherwise; none where everybody has an address of their own.
    pub base: Option<&'static str>,
    /// The variable that says otherwise, where the vendor's own programs read one.
    pub base_variable: Option<&'static str>,
    /// The variable that holds the key.
    pub key_variable: &'static str,
    /// Whether it answers nobody without a key.
    pub needs_key: bool,
    /// The header that carries the key; behind `authorization` it is a bearer's.
    key_header: &'static str,
    wire: Wire,
}

/// The protocol a vendor speaks.
#[derive(Clone, Copy, Debug)]
enum Wire {
    Responses,
    Chat(Dialect, Quirks),
    Anthropic,
    Gemini,
    Ollama,
}

/// A row to start from: a key is needed, and is a bearer's.
const fn row(
    name: &'static str,
    base: &'static str,
    key_variable: &'static str,
    wire: Wire,
) -> Vendor {
    Vendor {
        name,
        base: Some(base),
        base_variable: None,
        key_variable,
        needs_key: true,
        key_header: "authorization",
        wire,
    }
}

const OPENAI: &str = "https://api.openai.com/v1";
const OPENAI_CHAT: Wire = Wire::Chat(Dialect::OPENAI, Quirks::OPENAI);
const COMPATIBLE: Wire = Wire::Chat(Dialect::OPENAI, Quirks::COMPATIBLE);

/// Azure has no address that would do for everybody: it is that of a resource, and models are its deployments.
///
/// Requests go to `/openai/v1`, which speaks what OpenAI speaks and needs no `api-version`.
const AZURE: Vendor = Vendor {
    base: None,
    base_variable: Some("AZURE_OPENAI_ENDPOINT"),
    key_header: "api-key",
    ..row("azure", "", "AZURE_OPENAI_API_KEY", Wire::Responses)
};

/// Every vendor.
pub static VENDORS: &[Vendor] = &[
    Vendor {
        base_variable: Some("OPENAI_BASE_URL"),
        ..row("openai", OPENAI, "OPENAI_API_KEY", Wire::Responses)
    },
    Vendor {
        base_variable: Some("OPENAI_BASE_URL"),
        ..row("openai-chat", OPENAI, "OPENAI_API_KEY", OPENAI_CHAT)
    },
    Vendor {
        base_variable: Some("ANTHROPIC_BASE_URL"),
        key_header: "x-api-key",
        ..row(
            "anthropic",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            Wire::Anthropic,
        )
    },
    Vendor {
        base_variable: Some("GEMINI_BASE_URL"),
        key_header: "x-goog-api-key",
        ..row(
            "gemini",
            "https://generativelanguage.googleapis.com",
            "GEMINI_API_KEY",
            Wire::Gemini,
        )
    },
    Vendor {
        base_variable: Some("OLLAMA_HOST"),
        needs_key: false,
        ..row(
            "ollama",
            "http://127.0.0.1:11434",
            "OLLAMA_API_KEY",
            Wire::Ollama,
        )
    },
    AZURE,
    Vendor {
        name: "azure-chat",
        wire: OPENAI_CHAT,
        ..AZURE
    },
    Vendor {
        base_variable: Some("GROQ_BASE_URL"),
        ..row(
            "groq",
            "https://api.groq.com/openai/v1",
            "GROQ_API_KEY",
            Wire::Chat(Dialect::GROQ, Quirks::GROQ),
        )
    },
    row(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        Wire::Chat(Dialect::MISTRAL, Quirks::MISTRAL),
    ),
    row(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        Wire::Chat(Dialect::DEEPSEEK, Quirks::DEEPSEEK),
    ),
    row(
        "xai",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        Wire::Chat(Dialect::XAI, Quirks::XAI),
    ),
    row(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        Wire::Chat(Dialect::PORTABLE, Quirks::OPENROUTER),
    ),
    Vendor {
        base_variable: Some("TOGETHER_BASE_URL"),
        ..row(
            "together",
            "https://api.together.xyz/v1",
            "TOGETHER_API_KEY",
            Wire::Chat(Dialect::PORTABLE, Quirks::COMPATIBLE),
        )
    },
    Vendor {
        needs_key: false,
        ..row(
            "vllm",
            "http://127.0.0.1:8000/v1",
            "VLLM_API_KEY",
            COMPATIBLE,
        )
    },
    Vendor {
        needs_key: false,
        ..row(
            "llama.cpp",
            "http://127.0.0.1:8080/v1",
            "LLAMA_API_KEY",
            COMPATIBLE,
        )
    },
    Vendor {
        needs_key: false,
        ..row(
            "lm-studio",
            "http://127.0.0.1:1234/v1",
            "LM_API_TOKEN",
            COMPATIBLE,
        )
    },
];

impl Vendor {
    /// Finds a vendor by its name.
    ///
    /// # Errors
    ///
    /// There is none of that name; the error names those there are.
    pub fn named(name: &str) -> Result<&'static Self, ModelError> {
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
        match self.wire {
            Wire::Responses => OpenAiResponses.dialect(),
            Wire::Chat(dialect, _) => dialect,
            Wire::Anthropic => Anthropic::default().dialect(),
            Wire::Gemini => Gemini.dialect(),
            Wire::Ollama => Ollama.dialect(),
        }
    }

    /// Whether settings or variables hold a key for it, by the rules of [`Connect`].
    pub fn has_key(&'static self, config: &Config) -> bool {
        let key = self.model("").config(config).found_key();
        key.is_ok_and(|key| key.is_some())
    }

    /// Starts to connect to one of its models.
    pub fn model(&'static self, name: impl Into<String>) -> Connect {
        Connect::new(self, name.into())
    }
}
