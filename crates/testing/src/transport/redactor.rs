//! Redacts secrets in what a recording keeps of requests and responses.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolwright_core::Secret;
use toolwright_models::WireRequest;
use url::Url;

use super::recording::RecordedRequest;

/// Replaces a secret.
pub(super) const REDACTED: &str = "***";

/// Shorter secrets are not searched for: they are too likely to be part of another text.
const MIN_SECRET_BYTES: usize = 6;

/// The fields of a body that hold the key of an MCP server.
const SECRET_FIELDS: [&str; 2] = ["authorization", "authorization_token"];

/// The query parameters that hold a key.
const SECRET_QUERY_PARAMETERS: [&str; 5] = ["key", "api_key", "api-key", "access_token", "token"];

type CustomRedaction = dyn Fn(&str) -> String + Send + Sync;

/// The secrets to redact, and the user's own redaction.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    secrets: Vec<Secret>,
    custom: Option<Arc<CustomRedaction>>,
}

impl Redactor {
    pub(super) fn add_secret(&mut self, secret: &str) {
        if secret.len() >= MIN_SECRET_BYTES {
            self.secrets.push(Secret::new(secret));
        }
    }

    pub(super) fn set_custom(&mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) {
        self.custom = Some(Arc::new(redact));
    }

    /// What a recording keeps of a request, whose secrets are redacted in its response too from now on.
    pub(super) fn record_request(&mut self, request: &WireRequest) -> RecordedRequest {
        self.collect_secrets(request);
        let text = || Value::String(request.body.to_string());
        let mut body = serde_json::from_str(&request.body).unwrap_or_else(|_| text());
        self.redact_json(&mut body);
        let path = self.redacted_path(&request.url);
        RecordedRequest { method: request.method.to_string(), path, body }
    }

    /// Adds the secrets in a request's headers, URL and body.
    fn collect_secrets(&mut self, request: &WireRequest) {
        for header in request.headers.iter().filter(|header| header.sensitive) {
            self.add_secret(&header.value);
            // The scheme, as in `Bearer …`, is not part of the key.
            if let Some((_, token)) = header.value.split_once(' ') {
                self.add_secret(token.trim());
            }
        }
        if let Some(password) = request.url.password() {
            self.add_secret(password);
        }
        if let Ok(body) = serde_json::from_str::<Value>(&request.body) {
            self.collect_secret_fields(&body);
        }
    }

    fn collect_secret_fields(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect_secret_fields(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if SECRET_FIELDS.contains(&name.as_str()) => {
                            self.add_secret(text)
                        }
                        other => self.collect_secret_fields(other),
                    }
                }
            }
            _ => {}
        }
    }

    /// The path and query of a URL, without keys.
    fn redacted_path(&self, url: &Url) -> String {
        let mut path = url.path().to_owned();
        let pairs = url.query_pairs().map(|(name, value)| {
            let is_key = SECRET_QUERY_PARAMETERS.contains(&name.as_ref());
            format!("{name}={}", if is_key { REDACTED } else { &value })
        });
        let query: Vec<String> = pairs.collect();
        if !query.is_empty() {
            path.push('?');
            path.push_str(&query.join("&"));
        }
        self.replace_secrets(&path)
    }

    /// Redacts the body of a request.
    fn redact_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if SECRET_FIELDS.contains(&name.as_str()) => {
                            *text = REDACTED.to_owned();
                        }
                        other => self.redact_json(other),
                    }
                }
            }
            _ => {}
        }
    }

    /// Redacts one text, or the whole body of a response.
    pub(super) fn redact_text(&self, text: &str) -> String {
        let redacted = self.replace_secrets(text);
        match &self.custom {
            Some(custom) => custom(&redacted),
            None => redacted,
        }
    }

    fn replace_secrets(&self, text: &str) -> String {
        let secrets = self.secrets.iter();
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret.expose(), REDACTED))
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("secrets", &self.secrets.len())
            .field("custom", &self.custom.is_some())
            .finish()
    }
}
