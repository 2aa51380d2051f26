//! Exchanges in, one readable file out, and back.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was asked and answered in one conversation.
///
/// A file is a JSON array with one object per exchange, readable and fit for review:
///
/// ```json
/// [
///   {
///     "request": {"method": "POST", "path": "/api/chat", "body": {"model": "qwen3", "messages": []}},
///     "response": {
///       "status": 200,
///       "headers": {"content-type": "application/x-ndjson"},
///       "body": ["{\"message\":{\"content\":\"Hello.\"},\"done\":true}", ""],
///       "pieces": [20, 32]
///     }
///   }
/// ]
/// ```
///
/// The body of an answer stands line by line; `pieces` are the lengths in bytes in which it came, left out if it came whole. A
/// body that is not text stands as `base64` instead, and `cut` says that it was never read to its end. There is no host and no
/// key in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recording {
    pub(super) exchanges: Vec<Exchange>,
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) request: RecordedRequest,
    pub(super) response: RecordedResponse,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedRequest {
    #[serde(default = "post")]
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedResponse {
    pub(super) status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    body: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<usize>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) cut: bool,
}

pub(super) fn post() -> String {
    "POST".to_owned()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no recording.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text =
            fs::read_to_string(path).map_err(|error| Error::new(error.kind(), named(&error)))?;
        serde_json::from_str(&text)
            .map_err(|error| Error::new(ErrorKind::InvalidData, named(&error)))
    }

    /// Writes a file, all of it or none: what was there before stays until the new one is whole.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
        if written.is_err() {
            // What is left of it is of no use, and the first error says more than a second one.
            let _ = fs::remove_file(&partial);
        }
        written
    }

    /// How many exchanges it holds.
    pub fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }
}

impl RecordedResponse {
    pub(super) fn new(status: u16, headers: BTreeMap<String, String>) -> Self {
        Self {
            status,
            headers,
            ..Self::default()
        }
    }

    /// Keeps a body, each text of it as `scrubbed` returns it.
    pub(super) fn set_body(&mut self, pieces: &[Bytes], scrubbed: impl Fn(&str) -> String) {
        let whole = pieces.concat();
        let text = str::from_utf8(&whole).ok().map(scrubbed);
        // Where a secret was cut out the pieces are as long as before: only that they are cut anywhere matters.
        if pieces.len() > 1 {
            self.pieces = pieces.iter().map(Bytes::len).collect();
        }
        match text {
            Some(text) if text.is_empty() => {}
            Some(text) => self.body = text.split('\n').map(str::to_owned).collect(),
            None => self.base64 = Some(STANDARD.encode(&whole)),
        }
    }

    /// The body in pieces as it came.
    pub(super) fn body_chunks(&self) -> Result<Vec<Bytes>> {
        let mut rest = match &self.base64 {
            Some(base64) => STANDARD
                .decode(base64)
                .map_err(|error| Error::new(ErrorKind::InvalidData, error))?
                .into(),
            None => Bytes::from(self.body.join("\n")),
        };
        let mut pieces = Vec::new();
        for length in &self.pieces {
            pieces.push(rest.split_to((*length).min(rest.len())));
        }
        pieces.push(rest);
        pieces.retain(|piece| !piece.is_empty());
        Ok(pieces)
    }
}
