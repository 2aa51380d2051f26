//! The approvals that a conversation waits for, as its journal has them.
//!
//! A request for approval is in the journal before any client knows of it. At this node, the events of another one may still
//! be on their way.

use std::sync::Arc;

use toolwright_chat::{
    ChatError, Entry, EntryBody, PendingApproval, PrincipalRecord, Turn, load_unfinished_turn,
};
use toolwright_core::{CallId, CancellationToken};

use crate::auth::request_context::RequestContext;
use crate::conversation::room::Room;
use crate::conversation::room_worker::client_tools_of;
use crate::conversation::session::Session;

impl Room {
    /// Loads the approvals that the conversation waits for. `context` is the principal that asks, which may be another than the
    /// one that the turn runs for.
    pub(crate) async fn pending_approvals(
        self: &Arc<Self>,
        context: &RequestContext,
    ) -> Result<Vec<PendingApproval>, ChatError> {
        if self.unstored.is_some() {
            return Ok(Vec::new());
        }
        let entries = load_unfinished_turn(&*self.endpoint.store, &self.id).await?;
        self.pending_approvals_of(&entries.unwrap_or_default(), Some(context)).await
    }

    /// Returns the approvals that these entries of the journal, which end with the newest, leave pending.
    pub(super) async fn pending_approvals_of(
        self: &Arc<Self>,
        entries: &[Entry],
        context: Option<&RequestContext>,
    ) -> Result<Vec<PendingApproval>, ChatError> {
        let turn = open_turn(entries);
        let awaited = awaited_calls(turn);
        let is_awaited = |it: &&PendingApproval| awaited.contains(&it.call.id);
        let known: Vec<PendingApproval> =
            self.event_log().pending().iter().filter(is_awaited).cloned().collect();
        if known.len() == awaited.len() {
            return Ok(known);
        }
        let Some(principal) = self.principal_of(PrincipalRecord::of_last_turn(turn), context)
        else {
            // The turn waits until its principal is back.
            return Ok(known);
        };
        let principal = principal.with_stored_client_tools(client_tools_of(turn), &self.endpoint);
        let session =
            Session::new(self, principal, None, self.log.publisher(), CancellationToken::new());
        session.add_personal_tools().await;
        let request = session.with_session_settings(self.endpoint.chat.resume(&*self.id));
        request.pending_approvals().await
    }
}

/// The entries after the last end of a turn.
fn open_turn(entries: &[Entry]) -> &[Entry] {
    let ended = |entry: &Entry| matches!(entry.body, EntryBody::TurnEnded { .. });
    let from = entries.iter().rposition(ended).map_or(0, |at| at + 1);
    entries.get(from..).unwrap_or_default()
}

/// The calls of an open turn that wait for a decision.
fn awaited_calls(entries: &[Entry]) -> Vec<CallId> {
    let mut turn = Turn::default();
    entries.iter().for_each(|entry| turn.apply(entry));
    let open = turn.open_calls().map(|open| &open.call);
    open.filter(|call| turn.is_awaiting_approval(call)).cloned().collect()
}
