//! The file format of recorded exchanges.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use bytes::Bytes;
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The recorded exchanges of a test: requests and their responses.
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
/// The body of a response is an array of its lines; `pieces` are the lengths of its chunks in bytes, left out if there was
/// only one. A body that is not text is in `base64` instead, and `cut` is true if it was not read to its end. Hosts and keys
/// are not recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recording {
    pub(super) exchanges: Vec<Exchange>,
}

/// One request and its response.
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

fn post() -> String {
    "POST".to_owned()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Recording {
    /// Loads a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a recording.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let with_path = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path)
            .map_err(|error| Error::new(error.kind(), with_path(&error)))?;
        serde_json::from_str(&text)
            .map_err(|error| Error::new(ErrorKind::InvalidData, with_path(&error)))
    }

    /// Writes a file atomically: an existing one is replaced only when the new one is complete.
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
            // The first error is returned; a second one would add nothing.
            let _ = fs::remove_file(&partial);
        }
        written
    }

    /// The number of exchanges.
    pub fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// Returns true if there are no exchanges.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }
}

impl RecordedResponse {
    pub(super) fn new(status: u16, headers: BTreeMap<String, String>) -> Self {
        Self { status, headers, ..Self::default() }
    }

    /// Sets the body, redacted with `redact` if it is text.
    pub(super) fn set_body(&mut self, chunks: &[Bytes], redact: impl Fn(&str) -> String) {
        let body = chunks.concat();
        let text = str::from_utf8(&body).ok().map(redact);
        // Redaction may change the length; the old chunk lengths still split the body somewhere, which is all that matters.
        if chunks.len() > 1 {
            self.pieces = chunks.iter().map(Bytes::len).collect();
        }
        match text {
            Some(text) if text.is_empty() => {}
            Some(text) => self.body = text.split('\n').map(str::to_owned).collect(),
            None => self.base64 = Some(BASE64.encode(&body)),
        }
    }

    /// The body in chunks as it was received.
    pub(super) fn body_chunks(&self) -> Result<Vec<Bytes>> {
        let mut rest = match &self.base64 {
            Some(base64) => BASE64
                .decode(base64.as_bytes())
                .map_err(|error| Error::new(ErrorKind::InvalidData, error))?
                .into(),
            None => Bytes::from(self.body.join("\n")),
        };
        let mut chunks = Vec::new();
        for length in &self.pieces {
            chunks.push(rest.split_to((*length).min(rest.len())));
        }
        chunks.push(rest);
        chunks.retain(|chunk| !chunk.is_empty());
        Ok(chunks)
    }
}
