//! Lists the models that a server has.

use futures::StreamExt as _;
use toolwright_chat::ModelError;
use url::Url;

use super::endpoint_url;
use crate::limits::{MAX_RESPONSE_BYTES, response_too_long};
use crate::protocol::Protocol as _;
use crate::protocol::ollama::{MODEL_LIST_PATH, Ollama, parse_model_list};
use crate::transport::{Transport, WireHeader, WireRequest};

/// The names of the models of an Ollama server, in its order: the last changed first.
///
/// There is no timeout and no retry.
pub(crate) async fn list_ollama_models(
    transport: &dyn Transport,
    base_url: &Url,
    headers: Vec<WireHeader>,
) -> Result<Vec<String>, ModelError> {
    let mut request = WireRequest::get(endpoint_url(base_url, MODEL_LIST_PATH)?);
    request.headers = headers;
    let mut response = transport.send(request).await?;
    let mut body = Vec::new();
    while let Some(chunk) = response.body.next().await {
        body.extend_from_slice(&chunk?);
        if body.len() > MAX_RESPONSE_BYTES {
            return Err(response_too_long());
        }
    }
    let body = String::from_utf8_lossy(&body);
    match response.status {
        200 => parse_model_list(&body),
        status => Err(Ollama.parse_error(status, &body)),
    }
}
