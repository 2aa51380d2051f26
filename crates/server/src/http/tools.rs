//! `/api/tools`: lists and searches the tools, calls them, and shows their schemas as lowered for a provider.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_core::{RegisteredTool, ToolCall};
use toolwright_schema::Dialect;
use toolwright_search::ToolEmbeddings;

use super::{ApiState, body, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::{Path, Query};

/// The maximum length of a question, in bytes.
const MAX_QUESTION: usize = 2_000;

/// The default and the maximum number of tools that a search returns.
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

#[derive(Deserialize)]
pub(super) struct ListQuery {
    /// The question to rank the tools by; all tools are listed without one.
    #[serde(default)]
    search: String,
    /// How many tools a search returns.
    limit: Option<usize>,
}

pub(super) async fn list_tools(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    Query(query): Query<ListQuery>,
) -> Result<Response, ErrorResponse> {
    let scope = context.call_scope();
    let tools = context.invoker().list(&scope).map_err(registry_error)?;
    let question = query.search.trim();
    if question.is_empty() {
        let tools: Vec<Value> = tools.iter().map(tool_json).collect();
        return answer(StatusCode::OK, &tools);
    }
    if question.len() > MAX_QUESTION {
        let message = format!("search: a question has at most {MAX_QUESTION} bytes");
        return Err(ErrorResponse::bad_request(message));
    }
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(ErrorResponse::bad_request(format!("limit: from 1 to {MAX_LIMIT}")));
    }
    // Only the caller's own tools are indexed: no other can be found, and none influences a score.
    let tools: Arc<[RegisteredTool]> = tools.into();
    let embeddings = context.invoker().state::<ToolEmbeddings>();
    let catalogs = &state.server.tool_catalogs;
    let found = catalogs.search(&tools, question, limit, embeddings.as_deref()).await;
    let found: Vec<Value> = found.iter().map(|(tool, score)| scored_json(tool, *score)).collect();
    answer(StatusCode::OK, &found)
}

fn scored_json(tool: &RegisteredTool, score: f32) -> Value {
    let mut json = tool_json(tool);
    if let Some(fields) = json.as_object_mut() {
        // Rounded: more digits are not worth their bytes.
        fields.insert("score".to_owned(), json!((f64::from(score) * 1000.0).round() / 1000.0));
    }
    json
}

fn tool_json(entry: &RegisteredTool) -> Value {
    let spec = entry.spec();
    json!({
        "name": spec.name,
        "title": spec.display_name(),
        "description": spec.description,
        "parameters": spec.input,
        "output": spec.output,
        "hints": spec.hints,
        "approval": entry.needs_approval(),
        "approvers": entry.approvers(),
        "bundle": spec.bundle,
    })
}

pub(super) fn registry_error(error: toolwright_core::RegistryError) -> ErrorResponse {
    let message = format!("the tools cannot be listed: {error}");
    ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "tools", message)
}

#[derive(Deserialize)]
pub(super) struct DialectQuery {
    r#for: String,
}

pub(super) async fn show_lowered_schema(
    Extension(context): Extension<RequestContext>,
    Path(name): Path<String>,
    Query(DialectQuery { r#for }): Query<DialectQuery>,
) -> Result<Response, ErrorResponse> {
    let dialect: Dialect =
        r#for.parse().map_err(|error| ErrorResponse::bad_request(format!("for: {error}")))?;
    let snapshot = context.invoker().snapshot().map_err(registry_error)?;
    let entry = snapshot.get(&name).ok_or_else(|| unknown_tool(&name))?;
    match entry.spec().input.lower(dialect) {
        Ok(lowered) => {
            let lowered = json!({ "schema": lowered.schema(), "losses": lowered.losses() });
            answer(StatusCode::OK, &lowered)
        }
        Err(impossible) => {
            let message = impossible.to_string();
            Err(ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, "impossible", message))
        }
    }
}

fn unknown_tool(name: &str) -> ErrorResponse {
    ErrorResponse::not_found(format!("there is no tool `{name}`"))
}

#[derive(Deserialize)]
struct CallRequest {
    #[serde(default)]
    arguments: Value,
    /// The user has seen the call and approves it.
    #[serde(default)]
    confirmed: bool,
}

pub(super) async fn call_tool(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let request: CallRequest = body::read_json(&state.server.limits, &headers, body).await?;
    let invoker = context.invoker();
    let snapshot = invoker.snapshot().map_err(registry_error)?;
    let entry = snapshot.get(&name).ok_or_else(|| unknown_tool(&name))?;
    let arguments = body::arguments_or_empty(request.arguments);
    let call = ToolCall::new(&entry.spec().name, arguments);
    let mut scope = context.call_scope();
    if let Some(pending) = invoker.pending_call(&scope, &call) {
        if !request.confirmed {
            let message = "the call needs approval: send `confirmed: true` with it";
            return Err(ErrorResponse::new(StatusCode::CONFLICT, "approval", message));
        }
        if !context.may_approve(&pending.approvers, context.subject()) {
            let message =
                "others than you approve calls of this tool: ask for it in a conversation";
            return Err(ErrorResponse::new(StatusCode::FORBIDDEN, "approval", message));
        }
        scope = scope.approval_token(pending.request().issue_token());
    }
    if let Some(account) = context.quota_account() {
        let counted = state.server.quotas.count_call(&account, None).await;
        counted.inspect_err(|error| state.server.record_over_quota(error))?;
    }
    let started_at = Instant::now();
    let result = invoker.invoke_in(&scope, &call).await;
    state.server.metrics.record_call(&result, started_at.elapsed());
    answer(StatusCode::OK, &result)
}
