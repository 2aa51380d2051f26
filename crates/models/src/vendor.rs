//! The vendors, one row each: what they speak, where, and which variables say otherwise.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use toolwright_chat::{Model, ModelError, ModelErrorKind, ModelId};
use toolwright_core::Secret;
use toolwright_core::schema::Dialect;
use url::Url;

use crate::anthropic::{Anthropic, VERSION};
use crate::gemini::Gemini;
use crate::live::{Live, Patience};
use crate::ollama::Ollama;
use crate::openai_chat::{OpenAiChat, Quirks};
use crate::openai_responses::OpenAiResponses;

/// A company or a program that answers, and how it is spoken to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Vendor {
    /// The name before the colon of `VENDOR:MODEL`.
    pub name: &'static str,
    /// Where it is, unless said otherwise.
    pub base: &'static str,
    /// The variable that says otherwise.
    pub base_variable: Option<&'static str>,
    /// The variable that holds the key; none where none is needed.
    pub key_variable: Option<&'static str>,
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

const fn chat(
    name: &'static str,
    base: &'static str,
    key_variable: Option<&'static str>,
    dialect: Dialect,
    quirks: Quirks,
) -> Vendor {
    Vendor {
        name,
        base,
        base_variable: None,
        key_variable,
        wire: Wire::Chat(dialect, quirks),
    }
}

/// Every vendor.
pub static VENDORS: &[Vendor] = &[
    Vendor {
        name: "openai",
        base: "https://api.openai.com/v1",
        base_variable: Some("OPENAI_BASE_URL"),
        key_variable: Some("OPENAI_API_KEY"),
        wire: Wire::Responses,
    },
    Vendor {
        base_variable: Some("OPENAI_BASE_URL"),
        ..chat(
            "openai-chat",
            "https://api.openai.com/v1",
            Some("OPENAI_API_KEY"),
            Dialect::OPENAI,
            Quirks::OPENAI,
        )
    },
    Vendor {
        name: "anthropic",
        base: "https://api.anthropic.com",
        base_variable: Some("ANTHROPIC_BASE_URL"),
        key_variable: Some("ANTHROPIC_API_KEY"),
        wire: Wire::Anthropic,
    },
    Vendor {
        name: "gemini",
        base: "https://generativelanguage.googleapis.com",
        base_variable: Some("GEMINI_BASE_URL"),
        key_variable: Some("GEMINI_API_KEY"),
        wire: Wire::Gemini,
    },
    Vendor {
        name: "ollama",
        base: "http://127.0.0.1:11434",
        base_variable: Some("OLLAMA_HOST"),
        key_variable: None,
        wire: Wire::Ollama,
    },
    chat(
        "groq",
        "https://api.groq.com/openai/v1",
        Some("GROQ_API_KEY"),
        Dialect::GROQ,
        Quirks::GROQ,
    ),
    chat(
        "mistral",
        "https://api.mistral.ai/v1",
        Some("MISTRAL_API_KEY"),
        Dialect::MISTRAL,
        Quirks::MISTRAL,
    ),
    chat(
        "deepseek",
        "https://api.deepseek.com",
        Some("DEEPSEEK_API_KEY"),
        Dialect::DEEPSEEK,
        Quirks::DEEPSEEK,
    ),
    chat(
        "xai",
        "https://api.x.ai/v1",
        Some("XAI_API_KEY"),
        Dialect::XAI,
        Quirks::XAI,
    ),
    chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        Some("OPENROUTER_API_KEY"),
        Dialect::PORTABLE,
        Quirks::OPENROUTER,
    ),
    chat(
        "together",
        "https://api.together.xyz/v1",
        Some("TOGETHER_API_KEY"),
        Dialect::PORTABLE,
        Quirks::COMPATIBLE,
    ),
    chat(
        "vllm",
        "http://127.0.0.1:8000/v1",
        None,
        Dialect::OPENAI,
        Quirks::COMPATIBLE,
    ),
    chat(
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        None,
        Dialect::OPENAI,
        Quirks::COMPATIBLE,
    ),
    chat(
        "lm-studio",
        "http://127.0.0.1:1234/v1",
        None,
        Dialect::OPENAI,
        Quirks::COMPATIBLE,
    ),
];

impl Vendor {
    /// Finds a vendor by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|vendor| vendor.name == name)
    }

    /// Makes one of its models; nothing is connected before it is asked something.
    ///
    /// # Errors
    ///
    /// The key is missing where one is needed, or the address is none.
    pub fn model(
        &self,
        name: &str,
        key: Option<&Secret>,
        base: Option<&str>,
        patience: Patience,
    ) -> Result<Arc<dyn Model>, ModelError> {
        let id = ModelId::new(self.name, name);
        let base = base.unwrap_or(self.base);
        let base = Url::parse(base).map_err(|error| {
            let message = format!("`{base}` is no address");
            ModelError::new(ModelErrorKind::BadRequest, message).with_source(error)
        })?;
        if let (Some(variable), None) = (self.key_variable, key) {
            let message = format!("{} needs a key: set {variable}", self.name);
            return Err(ModelError::new(ModelErrorKind::Auth, message));
        }
        let headers = self.headers(key)?;
        Ok(match self.wire {
            Wire::Responses => Arc::new(Live::new(id, OpenAiResponses, base, headers, patience)?),
            Wire::Chat(dialect, quirks) => {
                let protocol = OpenAiChat { dialect, quirks };
                Arc::new(Live::new(id, protocol, base, headers, patience)?)
            }
            Wire::Anthropic => Arc::new(Live::new(
                id,
                Anthropic::default(),
                base,
                headers,
                patience,
            )?),
            Wire::Gemini => Arc::new(Live::new(id, Gemini, base, headers, patience)?),
            Wire::Ollama => Arc::new(Live::new(id, Ollama, base, headers, patience)?),
        })
    }

    fn headers(&self, key: Option<&Secret>) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        if let Wire::Anthropic = self.wire {
            headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        }
        let Some(key) = key else {
            return Ok(headers);
        };
        let (name, value) = match self.wire {
            Wire::Anthropic => ("x-api-key", key.expose().to_owned()),
            Wire::Gemini => ("x-goog-api-key", key.expose().to_owned()),
            _ => ("authorization", format!("Bearer {}", key.expose())),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let message = format!(
                "the key of {} is not one: it holds what no header may",
                self.name
            );
            ModelError::new(ModelErrorKind::Auth, message)
        })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_has_a_name_of_its_own_and_an_address() {
        for (at, vendor) in VENDORS.iter().enumerate() {
            assert!(Url::parse(vendor.base).is_ok(), "{}", vendor.base);
            assert!(
                VENDORS
                    .iter()
                    .skip(at + 1)
                    .all(|other| other.name != vendor.name)
            );
        }
    }

    #[test]
    fn a_missing_key_names_its_variable() {
        let vendor = Vendor::named("anthropic").unwrap();
        let error = vendor
            .model("any", None, None, Patience::default())
            .err()
            .unwrap();
        assert_eq!(
            error.message,
            "anthropic needs a key: set ANTHROPIC_API_KEY"
        );
    }

    #[test]
    fn a_model_is_named_after_its_vendor() {
        let vendor = Vendor::named("ollama").unwrap();
        let model = vendor
            .model("qwen3", None, None, Patience::default())
            .unwrap();
        assert_eq!(model.id().to_string(), "ollama:qwen3");
    }
}
