//! An [`Embedder`] over the embedding endpoint of OpenAI's API or of Ollama.

use futures::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::BoxFuture;
use toolwright_search::{EmbedError, Embedder};
use url::Url;

use super::retries::{Retries, retry_after};
use super::{ConnectionSettings, endpoint_url, with_vendor, without_sent_secrets};
use crate::limits::{MAX_RESPONSE_BYTES, protocol_error, response_too_long};
use crate::protocol::Protocol;
use crate::transport::{WireHeader, WireRequest};

/// The shape of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmbeddingShape {
    /// `POST /embeddings` of OpenAI's API: `{"data": [{"index": 0, "embedding": […]}, …]}`.
    OpenAi,
    /// `POST /api/embed` of Ollama: `{"embeddings": [[…], …]}`.
    Ollama,
}

impl EmbeddingShape {
    fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/embeddings",
            Self::Ollama => "/api/embed",
        }
    }

    /// Reads the vectors of a response, in the order of the texts.
    fn parse(self, body: &str) -> Option<Vec<Vec<f32>>> {
        let body: Value = serde_json::from_str(body).ok()?;
        match self {
            Self::OpenAi => {
                let mut data: Vec<&Value> = body.get("data")?.as_array()?.iter().collect();
                // Vectors have the number of their text; a server that omits it keeps the order.
                data.sort_by_key(|item| item.get("index").and_then(Value::as_u64));
                data.into_iter().map(|item| numbers(item.get("embedding")?)).collect()
            }
            Self::Ollama => body.get("embeddings")?.as_array()?.iter().map(numbers).collect(),
        }
    }
}

fn numbers(vector: &Value) -> Option<Vec<f32>> {
    vector.as_array()?.iter().map(|number| Some(number.as_f64()? as f32)).collect()
}

/// The embedding model of a vendor.
pub(crate) struct RemoteEmbedder {
    /// The vendor and the model, as `openai:text-embedding-3-small`.
    id: String,
    model_name: String,
    shape: EmbeddingShape,
    protocol: Box<dyn Protocol>,
    connection: ConnectionSettings,
    url: Url,
}

impl RemoteEmbedder {
    pub(crate) fn new(
        vendor: &str,
        model_name: String,
        shape: EmbeddingShape,
        protocol: Box<dyn Protocol>,
        connection: ConnectionSettings,
    ) -> Result<Self, ModelError> {
        let url = endpoint_url(&connection.base_url, shape.path())?;
        let id = format!("{vendor}:{model_name}");
        Ok(Self { id, model_name, shape, protocol, connection, url })
    }

    async fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let body = json!({"model": self.model_name, "input": texts}).to_string();
        let mut retries = Retries::new(self.connection.timeouts.retries);
        loop {
            match self.send(&body).await {
                Ok(vectors) if vectors.len() == texts.len() => return Ok(vectors),
                Ok(vectors) => {
                    let message = format!("{} vectors for {} texts", vectors.len(), texts.len());
                    return Err(protocol_error(message));
                }
                Err(error) => match retries.delay_after(&error) {
                    Some(delay) => tokio::time::sleep(delay).await,
                    None => {
                        let vendor = self.id.split(':').next().unwrap_or_default();
                        let error = without_sent_secrets(error, &self.connection.headers);
                        return Err(with_vendor(error, vendor, &self.url, false));
                    }
                },
            }
        }
    }

    async fn send(&self, body: &str) -> Result<Vec<Vec<f32>>, ModelError> {
        let timeouts = self.connection.timeouts;
        let mut request = WireRequest::new(self.url.clone(), body);
        request.headers.push(WireHeader::new("content-type", "application/json"));
        request.headers.extend_from_slice(&self.connection.headers);
        let timed_out = |_| ModelError::new(ModelErrorKind::Timeout, "no embeddings in time");
        let sending = self.connection.transport.send(request);
        let mut response =
            tokio::time::timeout(timeouts.first_byte, sending).await.map_err(timed_out)??;
        let mut bytes = Vec::new();
        while let Some(chunk) =
            tokio::time::timeout(timeouts.idle, response.body.next()).await.map_err(timed_out)?
        {
            bytes.extend_from_slice(&chunk?);
            if bytes.len() > MAX_RESPONSE_BYTES {
                return Err(response_too_long());
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if response.status != 200 {
            let mut error = self.protocol.parse_error(response.status, &text);
            error.retry_after = retry_after(&response);
            return Err(error);
        }
        let vectors = self.shape.parse(&text);
        vectors.ok_or_else(|| protocol_error("the answer has no embeddings"))
    }
}

impl Embedder for RemoteEmbedder {
    fn model(&self) -> &str {
        &self.id
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        let embedding = async move {
            let vectors = self.request(texts).await;
            vectors.map_err(|error| {
                EmbedError::new(format!("{} made no embeddings", self.id)).with_source(error)
            })
        };
        embedding.boxed()
    }
}
