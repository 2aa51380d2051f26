//! The prompts: listed, and filled in.

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_core::Outcome;

use super::{Context, body, json as answer};
use crate::guest::Guest;
use crate::problem::Problem;

pub(super) async fn list(Extension(guest): Extension<Guest>) -> Result<Response, Problem> {
    let scope = guest.scope();
    let prompts = guest.invoker().list_prompts(&scope);
    let prompts = prompts.map_err(|error| {
        let message = format!("the prompts cannot be listed: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "prompts", message)
    })?;
    let shown = prompts.iter().map(|prompt| {
        json!({
            "name": prompt.name(),
            "title": prompt.title(),
            "description": prompt.description(),
            "role": prompt.role(),
            "parameters": prompt.spec().input,
            "bundle": prompt.spec().bundle,
        })
    });
    answer(StatusCode::OK, &shown.collect::<Vec<Value>>())
}

#[derive(Deserialize)]
struct Fill {
    #[serde(default)]
    arguments: Value,
}

pub(super) async fn render(
    State(context): State<Context>,
    Extension(guest): Extension<Guest>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let fill: Fill = body::read(&context.app.limits, &headers, body).await?;
    let arguments = body::arguments(fill.arguments);
    let scope = guest.scope();
    let rendered = guest.invoker().render_in(&scope, name, &arguments).await;
    match rendered {
        Ok(rendered) => {
            let message = json!({ "role": rendered.role, "text": rendered.text, "content": rendered.content });
            answer(
                StatusCode::OK,
                &json!({ "messages": [message], "notes": rendered.notes }),
            )
        }
        Err(failure) => {
            let message = failure.text().into_owned();
            Err(match failure.outcome {
                Outcome::UnknownTool => Problem::unknown(message),
                _ => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "prompt", message),
            })
        }
    }
}
