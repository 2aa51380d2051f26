//! `/api/info`: the server's name, model, endpoints and warnings.

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
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let info = &state.server.info;
    let dialects: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let endpoints: Vec<&str> =
        state.endpoints.iter().map(|endpoint| endpoint.template.path.as_str()).collect();
    // Warnings name tools that these principals may not see.
    let warnings = match context.is_scoped() {
        true => Vec::new(),
        false => [(state.server.warnings)(), state.server.sign_in_warnings()].concat(),
    };
    let info = json!({
        "name": info.name,
        "version": info.version,
        "model": { "vendor": info.model.vendor, "name": info.model.name, "why": info.model_reason },
        "models": state.server.models.names,
        "store": info.store,
        "dialects": dialects,
        "endpoints": endpoints,
        "warnings": warnings,
        "console": state.server.branding,
    });
    answer(StatusCode::OK, &info)
}
