//! Ends a turn that is open: a result of each call that has none, and the end.

use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{CallId, Outcome, ToolResult};

use crate::chat::event::ChatEvent;
use crate::journal::entry::{CallMetadata, Entry, EntryBody, TurnEnd};
use crate::journal::history::{failed_result, unknown_outcome};
use crate::journal::store::{Append, Lease, Store, StoreError, random_hex};
use crate::journal::window::load_unfinished_turn;
use crate::turn::Turn;

/// Ends the turn that a conversation has left open, because a message continues the conversation without it; returns the events
/// of that, which are none if no turn is open.
///
/// # Errors
///
/// When the store fails, or the lease is lost.
pub async fn abandon_turn(store: &dyn Store, lease: &Lease) -> Result<Vec<ChatEvent>, StoreError> {
    let Some(entries) = load_unfinished_turn(store, &lease.conversation).await? else {
        return Ok(Vec::new());
    };
    let turn = Turn::from_entries(&entries);
    let results = close_calls(&turn, |_| true, abandoned_reason);
    let end = TurnEnd::Cancelled;
    let now = unix_millis_now();
    let closing = closing_bodies(&results, &end).map(|body| {
        let parent = body.call_id().and_then(|call| turn.parent(call)).cloned();
        Ok(Entry { parent, ..Entry::new(random_hex(8)?, now, body) })
    });
    let closing = closing.collect::<Result<Vec<Entry>, StoreError>>()?;
    store.append(lease, Append::new(&closing)).await?;
    let (usage, cost) = (turn.usage(), turn.cost());
    let ended = ChatEvent::TurnEnded { end, content: Vec::new(), usage, cost };
    let results = results.into_iter().map(|result| ChatEvent::Result { result, millis: 0 });
    Ok(results.chain([ended]).collect())
}

/// Why a call of a turn has no result of its own when a message continues the conversation without it.
pub(crate) fn abandoned_reason(turn: &Turn, call: &CallId) -> (Outcome, &'static str) {
    match turn.is_awaiting_approval(call) {
        true => (
            Outcome::Denied,
            "the call did not run: the conversation went on without a decision about it",
        ),
        // The caller may have been the one to run it.
        false => (
            Outcome::Cancelled,
            "there is no result of the call: the conversation went on without it",
        ),
    }
}

/// Returns results of the open calls: an unknown outcome for those that have started and `may_have_run`, and `why` for the others.
pub(crate) fn close_calls<'a>(
    turn: &Turn,
    may_have_run: impl Fn(&CallId) -> bool,
    why: impl Fn(&Turn, &CallId) -> (Outcome, &'a str),
) -> Vec<ToolResult> {
    let has_started = |open: &CallMetadata| turn.started_calls().any(|started| started == open);
    let results = turn.open_calls().map(|open| {
        let (call, tool) = (open.call.clone(), open.tool.clone());
        if has_started(open) && may_have_run(&call) {
            return unknown_outcome(call, tool);
        }
        let (outcome, reason) = why(turn, &call);
        failed_result(call, tool, outcome, reason)
    });
    results.collect()
}

/// Returns the entries that end a turn, after the results of its open calls.
pub(crate) fn closing_bodies(
    results: &[ToolResult],
    end: &TurnEnd,
) -> impl Iterator<Item = EntryBody> {
    let finished = results.iter().cloned().map(|result| EntryBody::CallFinished { result });
    finished.chain([EntryBody::TurnEnded { end: end.clone() }])
}
