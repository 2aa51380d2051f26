//! `/api/prompts`: lists the prompts and renders them.

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_core::Outcome;

use super::{ApiState, body, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;

pub(super) async fn list_prompts(
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let scope = context.call_scope();
    let prompts = context.invoker().list_prompts(&scope);
    let prompts = prompts.map_err(|error| {
        let message = format!("the prompts cannot be listed: {error}");
        ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "prompts", message)
    })?;
    let list = prompts.iter().map(|prompt| {
        json!({
            "name": prompt.name(),
            "title": prompt.title(),
            "description": prompt.description(),
            "role": prompt.role(),
            "parameters": prompt.spec().input,
            "bundle": prompt.spec().bundle,
        })
    });
    answer(StatusCode::OK, &list.collect::<Vec<Value>>())
}

#[derive(Deserialize)]
struct RenderRequest {
    #[serde(default)]
    arguments: Value,
}

pub(super) async fn render_prompt(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let request: RenderRequest = body::read_json(&state.server.limits, &headers, body).await?;
    let arguments = body::arguments_or_empty(request.arguments);
    let scope = context.call_scope();
    let rendered = context.invoker().render_prompt_in(&scope, name, &arguments).await;
    match rendered {
        Ok(rendered) => {
            let message = json!({ "role": rendered.role, "text": rendered.text, "content": rendered.content });
            answer(StatusCode::OK, &json!({ "messages": [message], "notes": rendered.notes }))
        }
        Err(failure) => {
            let message = failure.text().into_owned();
            Err(match failure.outcome {
                Outcome::UnknownTool => ErrorResponse::not_found(message),
                _ => ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, "prompt", message),
            })
        }
    }
}
