//! What owners do with their conversations: rename and share them; and what others do with a link: accept it, or leave.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_chat::{Entry, Owner};

use crate::auth::request_context::RequestContext;
use crate::conversation::access::{Operation, admin_id, is_same_conversation, shared_id};
use crate::conversation::room::Room;
use crate::conversation::shares::{Share, ShareAccess};
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::PathParams;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;
use crate::http::{ApiState, body, json_response as answer};

/// The maximum number of records in a list of accesses.
const MAX_ACCESSES: usize = 1000;

/// Opens a conversation that the principal owns.
async fn open_own(
    endpoint: &Arc<EndpointRuntime>,
    params: PathParams,
    context: &RequestContext,
) -> Result<Arc<Room>, ErrorResponse> {
    let room = endpoint.open_conversation(params, context, Operation::Manage).await?.room;
    if room.endpoint.is_shared() {
        let message = "this conversation has no owner: all who may use its path share it";
        return Err(ErrorResponse::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    Ok(room)
}

/// The first entry of a stored conversation; 404 if there is none.
async fn first_entry(room: &Room) -> Result<Entry, ErrorResponse> {
    let entries = room.endpoint.store.load(&room.id).await?;
    let first = entries.into_iter().next().filter(|_| room.endpoint.is_persistent());
    first.ok_or_else(ErrorResponse::no_such_conversation)
}

#[derive(Deserialize)]
struct RenameRequest {
    title: String,
}

pub(crate) async fn rename_conversation(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let room = open_own(&endpoint, params, &context).await?;
    let request: RenameRequest = body::read_json(&endpoint.server.limits, &headers, body).await?;
    let began = first_entry(&room).await?.at;
    endpoint.server.titles.set(&room.id, began, &request.title).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Deserialize)]
struct ShareRequest {
    access: ShareAccess,
    /// In seconds; never, if it is missing.
    expires_in: Option<u64>,
}

pub(crate) async fn create_share(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let room = open_own(&endpoint, params, &context).await?;
    let request: ShareRequest = body::read_json(&endpoint.server.limits, &headers, body).await?;
    if request.expires_in == Some(0) {
        return Err(ErrorResponse::bad_request("`expires_in` is a number of seconds, at least 1"));
    }
    let first = first_entry(&room).await?;
    let lifetime = request.expires_in.map(Duration::from_secs);
    let (name, shares) = (context.visible_name(), &endpoint.server.shares);
    let (share, token) = shares.create(&room.id, &first.id, request.access, lifetime, name).await?;
    let shown = ShareView { token: Some(token), ..ShareView::new(share, Vec::new()) };
    answer(StatusCode::CREATED, &shown)
}

/// A share as its owner sees it.
#[derive(Serialize)]
struct ShareView {
    id: String,
    access: &'static str,
    created: u64,
    expires: Option<u64>,
    participants: Vec<Value>,
    /// The secret of the link, which is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl ShareView {
    fn new(share: Share, participants: Vec<Value>) -> Self {
        let (access, created, expires) = (share.access.name(), share.created, share.expires);
        Self { id: share.id, access, created, expires, participants, token: None }
    }
}

pub(crate) async fn list_shares(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
) -> Result<Response, ErrorResponse> {
    let room = open_own(&endpoint, params, &context).await?;
    let shares = &endpoint.server.shares;
    let mut list = Vec::new();
    for share in shares.of_conversation(&room.id).await? {
        if !is_same_conversation(&room, &share.entry).await? {
            continue;
        }
        let participants = shares.participants(&share).await?;
        let participants = participants
            .iter()
            .map(|it| json!({ "name": it.visible_name(), "accepted": it.at }))
            .collect();
        list.push(ShareView::new(share, participants));
    }
    answer(StatusCode::OK, &list)
}

pub(crate) async fn revoke_share(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(mut params): Path<PathParams>,
) -> Result<Response, ErrorResponse> {
    // Not a parameter of the endpoint's own path.
    let share = params.pop().map(|(_, share)| share).unwrap_or_default();
    let room = open_own(&endpoint, params, &context).await?;
    if !endpoint.server.shares.revoke(&room.id, &share).await? {
        return Err(no_such_share());
    }
    room.recheck_access();
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn no_such_share() -> ErrorResponse {
    ErrorResponse::not_found("there is no such link, or it has ended")
}

#[derive(Deserialize)]
struct AcceptRequest {
    token: String,
}

pub(crate) async fn accept_share(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let request: AcceptRequest = body::read_json(&state.server.limits, &headers, body).await?;
    let shares = &state.server.shares;
    let accepted = shares.accept(context.subject(), context.display_name(), &request.token).await?;
    let share = accepted.ok_or_else(no_such_share)?;
    let room = state.endpoint.open_stored(&share.conversation).map_err(|_| no_such_share())?;
    if !is_same_conversation(&room, &share.entry).await? {
        // Deleted by another program than this server.
        shares.revoke(&share.conversation, &share.id).await?;
        return Err(no_such_share());
    }
    let (owner, id) = Owner::split_stored_name(&share.conversation);
    let (id, access) = match owner == context.owner() {
        true => (id.to_owned(), "owner"),
        false => (shared_id(&share), share.access.name()),
    };
    let owner = share.owner_name;
    answer(StatusCode::OK, &json!({ "id": id, "access": access, "owner": owner }))
}

pub(crate) async fn leave_share(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    Path(id): Path<String>,
) -> Result<Response, ErrorResponse> {
    let left = state.server.shares.leave(context.subject(), &id).await?;
    let share = left.ok_or_else(no_such_share)?;
    if let Ok(room) = state.endpoint.open_stored(&share.conversation) {
        room.recheck_access();
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The accesses of admins: to the conversations of all, for admins; else to those of the principal.
pub(crate) async fn list_accesses(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let owner = context.owner();
    let audit = &state.server.access_audit;
    let records = match context.is_admin() {
        true => audit.list(None, MAX_ACCESSES).await?,
        false => {
            let mut records = audit.list(Some(&owner), MAX_ACCESSES).await?;
            // The operator's key also has the lists of all conversations.
            records.retain(|record| record.conversation.is_some());
            records
        }
    };
    let list: Vec<Value> = records
        .iter()
        .map(|record| {
            let conversation = record.conversation.as_deref().map(|stored| {
                let (its_owner, id) = Owner::split_stored_name(stored);
                if its_owner == owner { id.to_owned() } else { admin_id(stored) }
            });
            json!({
                "at": record.at,
                "admin": record.name.as_ref().unwrap_or(&record.admin),
                "action": record.action,
                "conversation": conversation,
            })
        })
        .collect();
    answer(StatusCode::OK, &list)
}
