//! A request as JSON in, frames of the answer out, both through a client of async-openai's.
//!
//! Requests and streams are encoded and parsed by `toolwright-models`; the client only carries them. So it is a
//! [`Transport`], and there is no second loop.

use std::sync::Arc;

use async_openai::error::OpenAIError;
use futures::{FutureExt as _, Stream, StreamExt as _};
use serde::{Serialize, de::DeserializeOwned};
use toolwright::chat::{Model, ModelError, ModelErrorKind};
use toolwright::{BoxFuture, Secret};
use toolwright_models::{Bytes, ModelBuilder, Timeouts, Transport, WireRequest, WireResponse};

/// Makes a model of a client: `send` sends a request with it, and returns the stream of the answer.
///
/// The name is that of a vendor and its model: `openai:gpt-5` speaks Responses, `openai-chat:gpt-5` Chat Completions, and other
/// vendors that speak the latter have rows of their own. Key, address and retries are the client's.
///
/// A request is in async-openai's type for it, and so is each chunk: with `create_stream_byot`, both are a
/// [`serde_json::Value`], and nothing is lost that the types do not know.
///
/// # Errors
///
/// When there is no such vendor.
///
/// # Examples
///
/// ```
/// use async_openai::{Client, config::OpenAIConfig};
/// use toolwright::chat::Chat;
/// use toolwright::{Invoker, Registry};
///
/// let client = Client::with_config(OpenAIConfig::new().with_api_key("a key"));
/// let model = toolwright_async_openai::model("openai:gpt-5", move |request| {
///     let client = client.clone();
///     async move { client.responses().create_stream(request).await }
/// })?;
/// let chat = Chat::new(&Invoker::new(&Registry::discover()?)?, model);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn model<R: DeserializeOwned + 'static, C: Serialize + 'static, S, F>(
    name: &str,
    send: impl Fn(R) -> F + Send + Sync + 'static,
) -> Result<Arc<dyn Model>, ModelError>
where
    S: Stream<Item = Result<C, OpenAIError>> + Send + 'static,
    F: Future<Output = Result<S, OpenAIError>> + Send + 'static,
{
    let carrier = ClientTransport(Box::new(move |request| {
        let sent = serde_json::from_str(&request.body).map(&send);
        let answer = |chunks: S| Ok(WireResponse::streamed(200, chunks.map(to_sse_frame)));
        async move { sent.map_err(conversion_error)?.await.map_or_else(error_response, answer) }
            .boxed()
    }));
    let mut patience = Timeouts::default();
    patience.retries = 0;
    // The client has its own key and address: these are only asked for.
    ModelBuilder::for_model(name)?
        .api_key(Secret::new("none"))
        .base_url("http://localhost")
        .timeouts(patience)
        .transport(carrier)
        .build()
}

type SendFuture<'a> = BoxFuture<'a, Result<WireResponse, ModelError>>;

struct ClientTransport(Box<dyn Fn(WireRequest) -> SendFuture<'static> + Send + Sync>);

impl Transport for ClientTransport {
    fn send(&self, request: WireRequest) -> SendFuture<'_> {
        (self.0)(request)
    }
}

fn conversion_error(error: serde_json::Error) -> ModelError {
    let message = "async-openai's types do not fit: `create_stream_byot` takes any JSON";
    ModelError::new(ModelErrorKind::BadRequest, message).with_source(error)
}

fn to_sse_frame<C: Serialize>(chunk: Result<C, OpenAIError>) -> Result<Bytes, ModelError> {
    let json = match chunk {
        Ok(chunk) => serde_json::to_string(&chunk).map_err(conversion_error)?,
        // What their types do not know comes with the error, and is read here as if they did.
        Err(OpenAIError::JSONDeserialize(_, data)) => data.replace(['\r', '\n'], " "),
        Err(error) => return Err(stream_error(error)),
    };
    Ok(format!("data: {json}\n\n").into())
}

/// What the vendor answers where it does not answer the question.
fn error_response(error: OpenAIError) -> Result<WireResponse, ModelError> {
    match error {
        OpenAIError::ApiError(refused) => {
            let body = match refused.status_code.is_server_error() {
                // Of these, the message is the whole body.
                true => refused.api_error.message,
                false => serde_json::json!({"error": refused.api_error}).to_string(),
            };
            Ok(WireResponse::new(refused.status_code.as_u16(), body))
        }
        // The client forgets the status of a refusal that is not in OpenAI's form.
        OpenAIError::JSONDeserialize(_, body) => Ok(WireResponse::new(400, body)),
        error => Err(stream_error(error)),
    }
}

fn stream_error(error: OpenAIError) -> ModelError {
    let kind = match &error {
        OpenAIError::Reqwest(cause) if cause.is_timeout() => ModelErrorKind::Timeout,
        _ => ModelErrorKind::Network,
    };
    ModelError::new(kind, "async-openai's client gave up").with_source(error)
}
