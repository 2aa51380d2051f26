//! `/api/conversations`: the conversations of the principal that sends the request.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use toolwright_chat::Owner;

use crate::auth::request_context::RequestContext;
use crate::http::error_response::ErrorResponse;
use crate::http::{ApiState, json_response as answer};

/// The maximum number of conversations in a list.
const MAX_CONVERSATIONS: usize = 1000;

pub(crate) async fn list_conversations(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let summaries =
        state.assistant_endpoint.store.list_by_owner(&context.owner(), MAX_CONVERSATIONS).await?;
    let running = |id: &str| state.endpoints.iter().any(|endpoint| endpoint.is_turn_running(id));
    let list: Vec<Value> = summaries
        .iter()
        .map(|summary| {
            json!({
                "id": Owner::split_stored_name(&summary.conversation).1,
                "title": summary.title,
                "began": summary.began,
                "updated": summary.last,
                "entries": summary.entries,
                "running": running(&summary.conversation),
            })
        })
        .collect();
    answer(StatusCode::OK, &list)
}
