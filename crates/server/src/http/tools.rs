//! The tools: listed, tried, and shown as each provider would get them.

use std::time::Instant;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_core::{Entry, ToolCall};
use toolwright_schema::Dialect;

use super::{Context, body, json as answer};
use crate::guest::Guest;
use crate::problem::Problem;

pub(super) async fn list(Extension(guest): Extension<Guest>) -> Result<Response, Problem> {
    let scope = guest.scope();
    let tools = guest.invoker().list(&scope).map_err(broken)?;
    let tools: Vec<Value> = tools.iter().map(shown).collect();
    answer(StatusCode::OK, &tools)
}

fn shown(entry: &Entry) -> Value {
    let spec = entry.spec();
    json!({
        "name": spec.name,
        "title": spec.display_name(),
        "description": spec.description,
        "parameters": spec.input,
        "output": spec.output,
        "hints": spec.hints,
        "approval": entry.needs_approval(),
        "bundle": spec.bundle,
    })
}

pub(super) fn broken(error: toolwright_core::RegistryError) -> Problem {
    let message = format!("the tools cannot be listed: {error}");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "tools", message)
}

#[derive(Deserialize)]
pub(super) struct For {
    r#for: String,
}

pub(super) async fn lowered(
    Extension(guest): Extension<Guest>,
    Path(name): Path<String>,
    Query(For { r#for }): Query<For>,
) -> Result<Response, Problem> {
    let dialect: Dialect = r#for
        .parse()
        .map_err(|error| Problem::invalid(format!("for: {error}")))?;
    let snapshot = guest.invoker().snapshot().map_err(broken)?;
    let entry = snapshot.get(&name).ok_or_else(|| unknown(&name))?;
    match entry.spec().input.lower(dialect) {
        Ok(lowered) => {
            let lowered = json!({ "schema": lowered.schema(), "losses": lowered.losses() });
            answer(StatusCode::OK, &lowered)
        }
        Err(impossible) => {
            let message = impossible.to_string();
            Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "impossible",
                message,
            ))
        }
    }
}

fn unknown(name: &str) -> Problem {
    Problem::unknown(format!("there is no tool `{name}`"))
}

#[derive(Deserialize)]
struct Try {
    #[serde(default)]
    arguments: Value,
    /// The person has seen what will run, and wants it to.
    #[serde(default)]
    confirmed: bool,
}

pub(super) async fn call(
    State(context): State<Context>,
    Extension(guest): Extension<Guest>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let wanted: Try = body::read(&context.app.limits, &headers, body).await?;
    let invoker = guest.invoker();
    let snapshot = invoker.snapshot().map_err(broken)?;
    let entry = snapshot.get(&name).ok_or_else(|| unknown(&name))?;
    let arguments = body::arguments(wanted.arguments);
    let call = ToolCall::new(&entry.spec().name, arguments);
    let mut scope = guest.scope();
    if let Some(pending) = invoker.pending(&scope, &call) {
        if !wanted.confirmed {
            let message = "the call needs approval: send `confirmed: true` with it";
            return Err(Problem::new(StatusCode::CONFLICT, "approval", message));
        }
        scope = scope.grant(pending.request().grant());
    }
    let began = Instant::now();
    let result = invoker.invoke_in(&scope, &call).await;
    context.app.metrics.called(&result, began.elapsed());
    answer(StatusCode::OK, &result)
}
