//! `/api/conversations`: the conversations of the principal that sends the request, and those that are shared with it.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use toolwright_chat::{ConversationSummary, Owner, TailEnd, entry_title};

use crate::auth::request_context::RequestContext;
use crate::conversation::access::{admin_id, shared_id};
use crate::conversation::shares::Share;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Query;
use crate::http::{ApiState, json_response as answer};

/// The maximum number of conversations in a list.
const MAX_CONVERSATIONS: usize = 1000;

#[derive(Deserialize)]
pub(crate) struct ListQuery {
    /// The conversations of all owners, for admins.
    #[serde(default)]
    all: bool,
}

pub(crate) async fn list_conversations(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    Query(query): Query<ListQuery>,
) -> Result<Response, ErrorResponse> {
    let list = match query.all {
        true => list_all(&state, &context).await?,
        false => list_own(&state, &context).await?,
    };
    answer(StatusCode::OK, &list)
}

/// A conversation in a list.
#[derive(Serialize)]
struct ListedConversation {
    id: String,
    title: String,
    began: u64,
    updated: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    running: bool,
    /// What the principal may do.
    access: &'static str,
    /// Whether it is shared, for its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<bool>,
    /// The owner, for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
}

impl ListedConversation {
    fn new(
        state: &ApiState,
        id: String,
        summary: ConversationSummary,
        access: &'static str,
    ) -> Self {
        Self {
            id,
            running: is_running(state, &summary.conversation),
            title: summary.title,
            began: summary.began,
            updated: summary.last,
            entries: Some(summary.entries),
            access,
            shared: None,
            owner: None,
        }
    }
}

async fn list_own(
    state: &ApiState,
    context: &RequestContext,
) -> Result<Vec<ListedConversation>, ErrorResponse> {
    let owner = context.owner();
    let mut summaries = state.endpoint.store.list_by_owner(&owner, MAX_CONVERSATIONS).await?;
    state.server.titles.apply(&owner, &mut summaries).await?;
    let shares = state.server.shares.of_owner(&owner).await?;
    let own = summaries.into_iter().map(|summary| {
        let id = Owner::split_stored_name(&summary.conversation).1.to_owned();
        let is_shared = shares.iter().any(|it| it.conversation == summary.conversation);
        let listed = ListedConversation::new(state, id, summary, "owner");
        ListedConversation { shared: Some(is_shared), ..listed }
    });
    let mut list: Vec<ListedConversation> = own.collect();
    for share in state.server.shares.all_accepted(context.subject()).await? {
        list.extend(list_shared(state, share).await?);
    }
    list.sort_by_key(|listed| std::cmp::Reverse(listed.updated));
    Ok(list)
}

/// The conversations of all owners, for an admin.
async fn list_all(
    state: &ApiState,
    context: &RequestContext,
) -> Result<Vec<ListedConversation>, ErrorResponse> {
    if !context.is_admin() {
        let message = "only an admin may list the conversations of all owners";
        return Err(ErrorResponse::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    state.server.access_audit.record_list(context).await?;
    let mut summaries = state.endpoint.store.list(MAX_CONVERSATIONS).await?;
    state.server.titles.apply_to_all(&mut summaries).await?;
    let list = summaries.into_iter().map(|summary| {
        let owner = match Owner::split_stored_name(&summary.conversation).0 {
            Owner::Subject(subject) => Some(subject),
            _ => None,
        };
        let id = admin_id(&summary.conversation);
        ListedConversation { owner, ..ListedConversation::new(state, id, summary, "admin") }
    });
    Ok(list.collect())
}

fn is_running(state: &ApiState, stored_name: &str) -> bool {
    state.server.endpoints().any(|endpoint| endpoint.is_turn_running(stored_name))
}

/// A conversation that is shared with the principal; `None` if it does not exist any more.
async fn list_shared(
    state: &ApiState,
    share: Share,
) -> Result<Option<ListedConversation>, ErrorResponse> {
    let (store, name) = (&state.endpoint.store, &share.conversation);
    let first = store.tail(name, TailEnd::At(&share.entry), 1).await?;
    let last = store.tail(name, TailEnd::Newest, 1).await?;
    let (Some(first), Some(last)) = (first.last(), last.last()) else {
        return Ok(None);
    };
    let title = state.server.titles.of(name, first.at).await?;
    Ok(Some(ListedConversation {
        id: shared_id(&share),
        title: title.unwrap_or_else(|| entry_title(first)),
        began: first.at,
        updated: last.at,
        entries: None,
        running: is_running(state, name),
        access: share.access.name(),
        shared: None,
        owner: share.owner_name,
    }))
}
