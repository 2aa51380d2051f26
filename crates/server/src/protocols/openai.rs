//! Clients of OpenAI's API: `POST /v1/chat/completions` and `GET /v1/models`.
//!
//! Nothing is stored: each request contains its history. The server's tools run inside the request, and calls that need
//! approval are denied, because the API cannot ask for it. The client's own tools are returned as `tool_calls`.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use self::error::OpenAiError;
use self::request::{ChatRequest, CompletionBody};
use super::sse;
use super::turn_stream::ProtocolStream;
use crate::auth::request_context::RequestContext;
use crate::conversation::room::Room;
use crate::conversation::room_command::{CommandKind, RoomCommand};
use crate::conversation::subscriber::Subscriber;
use crate::endpoint::{EndpointRuntime, random_id};
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;
use crate::http::{ApiState, body, json_response as answer};
use crate::protocols::openai::encoder::{OpenAiEncoder, merge_chunks};
use toolwright_core::__internal::unix_millis_now;

pub(crate) mod encoder;
mod error;
mod history;
mod request;
mod response_format;

pub(crate) async fn create_completion(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OpenAiError> {
    let endpoint = &state.endpoint;
    let request: CompletionBody = body::read_json(&endpoint.server.limits, &headers, body).await?;
    let model = request.model.clone();
    let (streamed, include_usage) = (request.is_streamed(), request.includes_usage());
    let ChatRequest { message, conversation, tools } = ChatRequest::parse(request, endpoint)?;
    let id = format!("chatcmpl-{}", random_id().map_err(ErrorResponse::from)?);
    // Not in the endpoint's map of rooms: no client can reconnect to it.
    let stored_name = context.owner().stored_name(&id);
    let answer_schema = conversation.format.as_ref().map(|it| it.format.schema.clone());
    let room = Room::new(Arc::clone(endpoint), stored_name, id.clone(), Vec::new());
    let room = Arc::new(room.unstored(conversation));
    let subscriber = Subscriber::new(Arc::clone(&room), Some(room.event_log().newest_seq()), None);
    let command = CommandKind::Message(message);
    let command = RoomCommand::new(command, context.clone().with_client_tools(tools), None);
    let cancel_on_drop = command.cancel.clone().drop_guard();
    room.admit(command).await?;
    let encoder = OpenAiEncoder::new(id, unix_millis_now() / 1000, model, include_usage)
        .with_answer_schema(answer_schema);
    let stream = ProtocolStream::new(subscriber, encoder).cancel_on_drop(cancel_on_drop);
    if streamed {
        return Ok(sse::stream_response(
            stream,
            endpoint,
            None,
            context,
            std::future::pending(),
            [],
        ));
    }
    buffered_response(stream).await
}

async fn buffered_response(
    mut stream: ProtocolStream<OpenAiEncoder>,
) -> Result<Response, OpenAiError> {
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.next().await {
        chunks.extend(serde_json::from_str::<Value>(&chunk).ok());
    }
    match merge_chunks(chunks) {
        Ok(whole) => Ok(answer(StatusCode::OK, &whole)?),
        Err(error) => Err(OpenAiError::from_error_chunk(&error)),
    }
}

/// The model names that a request may use.
fn model_names(endpoint: &EndpointRuntime) -> Vec<String> {
    let known = &endpoint.server.models.names;
    match known.is_empty() {
        true => vec![endpoint.model.id().to_string()],
        false => known.clone(),
    }
}

fn model_json(name: &str) -> Value {
    let vendor = name.split(':').next().unwrap_or(name);
    json!({ "id": name, "object": "model", "created": 0, "owned_by": vendor })
}

pub(crate) async fn list_models(State(state): State<ApiState>) -> Result<Response, OpenAiError> {
    let names = model_names(&state.endpoint);
    let models: Vec<Value> = names.iter().map(|name| model_json(name)).collect();
    Ok(answer(StatusCode::OK, &json!({ "object": "list", "data": models }))?)
}

pub(crate) async fn show_model(
    State(state): State<ApiState>,
    Path(name): Path<String>,
) -> Result<Response, OpenAiError> {
    let names = model_names(&state.endpoint);
    match names.contains(&name) {
        true => Ok(answer(StatusCode::OK, &model_json(&name))?),
        false => Err(OpenAiError::model_not_found(&name, &names)),
    }
}

impl IntoResponse for OpenAiError {
    fn into_response(self) -> Response {
        let body = json!({ "error": {
            "message": self.message, "type": self.error_type, "param": self.param, "code": self.code,
        } });
        let mut response = answer(self.status, &body).unwrap_or_else(ErrorResponse::into_response);
        if let Some(wait) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, wait.into());
        }
        response
    }
}
