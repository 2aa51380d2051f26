//! What the server is, and who answers.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use toolwright_schema::Dialect;

use super::{ApiState, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::http::error_response::ErrorResponse;

pub(super) async fn show_info(
    State(context): State<ApiState>,
    Extension(guest): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let about = &context.server.info;
    let dialects: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let endpoints: Vec<&str> = context
        .endpoints
        .iter()
        .map(|live| live.template.path.as_str())
        .collect();
    // They name tools, also to clients that may not see them.
    let warnings = match guest.is_scoped() {
        true => Vec::new(),
        false => (context.server.warnings)(),
    };
    let info = json!({
        "name": about.name,
        "version": about.version,
        "model": { "vendor": about.model.vendor, "name": about.model.name, "why": about.model_reason },
        "models": context.server.models.names,
        "store": about.store,
        "dialects": dialects,
        "endpoints": endpoints,
        "warnings": warnings,
    });
    answer(StatusCode::OK, &info)
}
