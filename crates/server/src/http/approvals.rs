//! `/api/approvals`: the pending approvals that the principal may decide about because a tool's policy names it, without the
//! rest of their conversations.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use toolwright_chat::PendingApproval;

use super::{ApiState, body, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::conversation::approval_list::ListedApproval;
use crate::conversation::room::Room;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;
use crate::protocols::native::DecisionRequest;

/// The maximum number of approvals in a list.
const MAX_SHOWN: usize = 100;

pub(super) async fn list_approvals(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let mut list: Vec<Value> = Vec::new();
    for listed in state.server.listed_approvals().await? {
        if list.len() >= MAX_SHOWN {
            break;
        }
        if let Some((_, approval)) = open_approval(&state, &context, &listed).await? {
            list.push(json!({
                "id": listed.id,
                "call": approval.call.id,
                "tool": approval.tool,
                "arguments": approval.arguments,
                "token": approval.token,
                "approvers": approval.approvers,
                "requested_by": listed.name,
                "at": listed.at,
                "expires": approval.token.expires(),
            }));
        }
    }
    answer(StatusCode::OK, &list)
}

/// Returns a listed approval and its room, if it is still pending and the principal may decide about it.
async fn open_approval(
    state: &ApiState,
    context: &RequestContext,
    listed: &ListedApproval,
) -> Result<Option<(Arc<Room>, PendingApproval)>, ErrorResponse> {
    let Ok(room) = state.endpoint.open_stored(&listed.conversation) else {
        return Ok(None);
    };
    room.recover_unfinished_turn(context).await?;
    let pending = room.pending_approvals(context).await?;
    let found = pending.into_iter().find(|approval| {
        approval.call.id == listed.call
            && context.may_approve(&approval.approvers, listed.subject.as_deref())
    });
    Ok(found.map(|approval| (room, approval)))
}

pub(super) async fn decide(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let unknown = || ErrorResponse::not_found("there is no such approval, or it is decided");
    let listed = state.server.listed_approvals().await?;
    let listed = listed.into_iter().find(|listed| listed.id == id).ok_or_else(unknown)?;
    let opened = open_approval(&state, &context, &listed).await?;
    let (room, approval) = opened.ok_or_else(unknown)?;
    let request: DecisionRequest = body::read_json(&state.server.limits, &headers, body).await?;
    if !request.is_about(&approval.call.id) {
        return Err(unknown());
    }
    request.submit(&room, context, None).await?;
    answer(StatusCode::ACCEPTED, &json!({}))
}
