//! Takes the place of `websocket` without that feature.

use axum::http::StatusCode;

use crate::http::error_response::ErrorResponse;

/// Answers a request to upgrade a connection.
pub(crate) async fn upgrade() -> ErrorResponse {
    let message = "for WebSockets, enable the feature `websocket` of toolwright";
    ErrorResponse::new(StatusCode::NOT_IMPLEMENTED, "feature", message)
}
