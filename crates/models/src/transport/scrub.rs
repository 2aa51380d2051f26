//! What was said on the wire in, the same without secrets out.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolwright_core::Secret;
use url::Url;

use super::WireRequest;

/// What stands for a secret.
pub(super) const MASK: &str = "***";

/// Shorter texts are too likely to be part of something else.
const SHORTEST: usize = 6;

/// The fields of a body that carry a key of somebody else's: an MCP server's.
const FIELDS: [&str; 2] = ["authorization", "authorization_token"];

/// The names under which an address carries a key.
const IN_ADDRESS: [&str; 5] = ["key", "api_key", "api-key", "access_token", "token"];

type Own = dyn Fn(&str) -> String + Send + Sync;

/// Knows what must not be written down.
#[derive(Clone, Default)]
pub(super) struct Scrub {
    secrets: Vec<Secret>,
    own: Option<Arc<Own>>,
}

impl Scrub {
    pub(super) fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.secrets.push(Secret::new(secret));
        }
    }

    pub(super) fn set_own(&mut self, own: impl Fn(&str) -> String + Send + Sync + 'static) {
        self.own = Some(Arc::new(own));
    }

    /// Learns the secrets that a request itself gives away.
    pub(super) fn learn(&mut self, request: &WireRequest) {
        for header in request.headers.iter().filter(|header| header.sensitive) {
            self.add(&header.value);
            // The word before it, as in `Bearer …`, is not part of the key.
            if let Some((_, token)) = header.value.split_once(' ') {
                self.add(token.trim());
            }
        }
        if let Some(password) = request.url.password() {
            self.add(password);
        }
        if let Ok(body) = serde_json::from_str::<Value>(&request.body) {
            self.learn_fields(&body);
        }
    }

    fn learn_fields(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.learn_fields(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if FIELDS.contains(&name.as_str()) => self.add(text),
                        other => self.learn_fields(other),
                    }
                }
            }
            _ => {}
        }
    }

    /// The path of an address: the host is nobody's business, nor are keys behind the question mark.
    pub(super) fn path(&self, url: &Url) -> String {
        let mut path = url.path().to_owned();
        let pairs = url.query_pairs().map(|(name, value)| {
            let is_key = IN_ADDRESS.contains(&name.as_ref());
            format!("{name}={}", if is_key { MASK } else { &value })
        });
        let query: Vec<String> = pairs.collect();
        if !query.is_empty() {
            path.push('?');
            path.push_str(&query.join("&"));
        }
        self.masked(&path)
    }

    /// The body of a request.
    pub(super) fn json(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if FIELDS.contains(&name.as_str()) => {
                            *text = MASK.to_owned();
                        }
                        other => self.json(other),
                    }
                }
            }
            _ => {}
        }
    }

    /// One text, or the whole body of an answer.
    pub(super) fn text(&self, text: &str) -> String {
        let masked = self.masked(text);
        match &self.own {
            Some(own) => own(&masked),
            None => masked,
        }
    }

    fn masked(&self, text: &str) -> String {
        let secrets = self.secrets.iter();
        secrets.fold(text.to_owned(), |text, secret| {
            text.replace(secret.expose(), MASK)
        })
    }
}

impl fmt::Debug for Scrub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrub")
            .field("secrets", &self.secrets.len())
            .field("own", &self.own.is_some())
            .finish()
    }
}
