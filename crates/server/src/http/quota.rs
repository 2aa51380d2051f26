//! `/api/quota`: what the principal has used of its quota, and what is left.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::{ApiState, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::http::error_response::ErrorResponse;

pub(super) async fn show_quota(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let account = context.quota_account().unwrap_or_default();
    answer(StatusCode::OK, &state.server.quotas.usage_of(&account).await?)
}
