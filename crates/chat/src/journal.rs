//! The journal of the conversation whose turn runs: entries are stored first, and then applied to the turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tokio::time::Instant;
use toolwright_core::__internal::whole_millis;
use toolwright_core::schema::canonical_json;
use toolwright_core::{ApprovalSigner, ApprovalToken, CallId, Secret};

use crate::chat::TurnOptions;
use crate::error::ChatError;
use crate::journal::entry::{ApprovalVerdict, Entry, EntryBody, is_turn_over};
use crate::journal::path::require_turn_end;
use crate::journal::store::inbox::InboxItem;
use crate::journal::store::owner::PrincipalRecord;
use crate::journal::store::{Append, Lease, Store, StoreError, TurnStatus, random_hex};
use crate::journal::window::HistoryWindow;
use crate::turn::{Turn, TurnAction, TurnLimits};

pub(crate) mod closing;
pub(crate) mod entry;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod path;
pub(crate) mod repair;
pub(crate) mod retention;
pub(crate) mod store;
pub(crate) mod window;

/// The journal of one conversation, opened for appending with its lease.
pub(crate) struct Journal {
    pub(crate) conversation: String,
    store: Arc<dyn Store>,
    signer: Arc<ApprovalSigner>,
    /// True if the turn pauses at every call, for a caller that runs the calls itself.
    pauses_at_calls: bool,
    /// Orders the appends of calls that run at the same time. Holds the error of an append that was perhaps not stored: after
    /// it, nothing more is appended.
    append_lock: tokio::sync::Mutex<Option<String>>,
    state: Mutex<JournalState>,
}

/// The entries that were read or appended, and the turn they lead to.
pub(crate) struct JournalState {
    lease: Lease,
    pub(crate) entries: Vec<Entry>,
    pub(crate) turn: Turn,
    clock: Clock,
}

/// The clock of a turn: the system time when the turn starts or resumes, and monotonic from then on.
struct Clock {
    /// Since 1970, to the nanosecond: rounded, the clock would be behind the time of an approval that was issued just now.
    start_time: Duration,
    start_instant: Instant,
}

impl Clock {
    fn start() -> Self {
        // In this order: interrupted in between, the clock is ahead and not behind.
        let start_instant = Instant::now();
        let start_time = SystemTime::now().duration_since(UNIX_EPOCH);
        Self { start_time: start_time.unwrap_or_default(), start_instant }
    }

    /// Milliseconds since 1970.
    fn now(&self) -> u64 {
        let now = self.start_time.saturating_add(self.start_instant.elapsed());
        whole_millis(now)
    }
}

impl Journal {
    /// Reads the entries of the window, and the turn they lead to.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        lease: Lease,
        options: &TurnOptions,
        signer: Arc<ApprovalSigner>,
    ) -> Result<Self, StoreError> {
        let conversation = lease.conversation.clone();
        let entries = options.window.load_entries(&store, &conversation).await?;
        let turn = Turn::new(options.limits.clone());
        let journal = Self {
            conversation,
            store,
            signer,
            pauses_at_calls: options.manual_calls,
            append_lock: tokio::sync::Mutex::default(),
            state: Mutex::new(JournalState {
                lease,
                entries: Vec::new(),
                turn,
                clock: Clock::start(),
            }),
        };
        journal.replace_entries(entries);
        Ok(journal)
    }

    /// Reads the entries up to the one of the id `after`, which ends a turn; none if that is empty.
    pub(crate) async fn load_branch(
        &self,
        after: &str,
        window: &HistoryWindow,
    ) -> Result<Vec<Entry>, ChatError> {
        let path = window.load_path(&*self.store, &self.conversation, Some(after)).await?;
        require_turn_end(&path, after)?;
        Ok(path)
    }

    /// Replaces the entries by others of the same conversation, and the turn by the one that they lead to.
    ///
    /// Decisions of the open turn that are not signed are left out.
    pub(crate) fn replace_entries(&self, mut entries: Vec<Entry>) {
        let ended = |entry: &Entry| matches!(entry.body, EntryBody::TurnEnded { .. });
        let open_turn = entries.iter().rposition(ended).map_or(0, |at| at + 1);
        let open_turn = entries.split_off(open_turn);
        let signed = open_turn.iter().filter(|entry| self.is_signed(entry, &open_turn));
        entries.extend(signed.cloned());
        let mut state = self.state();
        state.turn.reset();
        entries.iter().for_each(|entry| state.turn.replay(entry));
        state.entries = entries;
    }

    /// Returns true unless an entry is a decision that was not signed with a key of this store.
    fn is_signed(&self, entry: &Entry, entries: &[Entry]) -> bool {
        let EntryBody::ApprovalDecided { call, verdict, mac } = &entry.body else {
            return true;
        };
        let request = find_approval_request(entries, call);
        let approver = entry.principal.as_ref();
        let text = decision_text(&self.conversation, call, verdict, request, approver);
        let is_signed = mac.as_ref().is_some_and(|mac| self.signer.is_text_signature(&text, mac));
        if !is_signed {
            let (conversation, entry) = (&self.conversation, &entry.id);
            tracing::warn!(conversation, entry, "a decision is not signed: it is ignored");
        }
        is_signed
    }

    /// Appends entries: stored when it returns.
    pub(crate) async fn append(
        &self,
        bodies: impl IntoIterator<Item = EntryBody>,
    ) -> Result<(), StoreError> {
        self.append_caused(&Cause::default(), bodies).await
    }

    /// Appends entries with what caused them: stored when it returns.
    pub(crate) async fn append_caused(
        &self,
        cause: &Cause<'_>,
        bodies: impl IntoIterator<Item = EntryBody>,
    ) -> Result<(), StoreError> {
        let mut failure = self.append_lock.lock().await;
        if let Some(message) = &*failure {
            return Err(StoreError::new(message));
        }
        let now = self.now();
        let entries = self.make_entries(cause, now, bodies)?;
        let (lease, turn, durable) = {
            let state = self.state();
            let turn = self.status_after(&state.turn, &entries, now);
            let durable = must_be_durable(&state.turn, &entries, cause);
            (state.lease.clone(), turn, durable)
        };
        let taken: Vec<u64> = cause.item.map(|item| item.position).into_iter().collect();
        let append = Append::new(&entries).taking(&taken).turn(turn).durable(durable);
        // Stays if this future is dropped before the store has answered.
        *failure = Some("an earlier append was cancelled before it was stored".to_owned());
        let appended = self.store.append(&lease, append).await;
        *failure = appended.as_ref().err().map(ToString::to_string);
        appended?;
        let mut state = self.state();
        for entry in entries {
            state.turn.apply(&entry);
            state.entries.push(entry);
        }
        Ok(())
    }

    /// Makes entries with new ids; the first one that has a cause has the id of its inbox item.
    fn make_entries(
        &self,
        cause: &Cause<'_>,
        now: u64,
        bodies: impl IntoIterator<Item = EntryBody>,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut item = cause.item;
        let mut after = cause.after;
        let entries = bodies.into_iter().map(|mut body| {
            let mut entry = Entry::new(String::new(), now, EntryBody::User { content: Vec::new() });
            let is_decision = matches!(body, EntryBody::ApprovalDecided { .. });
            let is_message = matches!(body, EntryBody::User { .. } | EntryBody::Assistant { .. });
            if is_decision || is_message {
                entry.principal = cause.principal.cloned();
            }
            if is_message {
                entry.after = after.take().map(str::to_owned);
            }
            entry.id = match item.take_if(|_| is_decision || is_message) {
                Some(item) => {
                    if is_message {
                        entry.client_tools = item.client_tools().to_vec();
                    }
                    item.id.clone()
                }
                None => random_hex(8)?,
            };
            if let EntryBody::ApprovalDecided { call, verdict, mac } = &mut body {
                let request = self.approval_request(call);
                let request = request.as_ref().map(|(arguments, token)| (arguments, token));
                let approver = entry.principal.as_ref();
                let text = decision_text(&self.conversation, call, verdict, request, approver);
                *mac = Some(self.signer.sign_text(&text));
            }
            entry.parent = cause.parent.cloned().or_else(|| {
                let call = body.call_id()?;
                self.state().turn.parent(call).cloned()
            });
            entry.body = body;
            Ok(entry)
        });
        entries.collect()
    }

    /// Returns the status of the turn after more entries.
    fn status_after(&self, turn: &Turn, entries: &[Entry], now: u64) -> TurnStatus {
        if is_turn_over(entries) {
            return TurnStatus::Over;
        }
        if self.pauses_at_calls {
            return TurnStatus::Paused;
        }
        let asks = |entry: &Entry| matches!(entry.body, EntryBody::ApprovalRequested { .. });
        if !turn.has_pending_approval() && !entries.iter().any(asks) {
            return TurnStatus::Running;
        }
        let mut turn = turn.clone();
        entries.iter().for_each(|entry| turn.apply(entry));
        match turn.next_action(now) {
            TurnAction::AwaitApproval(_) => TurnStatus::Paused,
            _ => TurnStatus::Running,
        }
    }

    /// Returns the next action of the turn after more entries.
    pub(crate) fn action_after(&self, bodies: &[EntryBody]) -> TurnAction {
        self.turn_after(None, bodies).next_action(self.now())
    }

    /// Returns the turn after more entries, of the children of the call `parent` if there is one.
    pub(crate) fn turn_after(&self, parent: Option<&CallId>, bodies: &[EntryBody]) -> Turn {
        let now = self.now();
        let mut turn = self.state().turn.clone();
        for body in bodies {
            let mut entry = Entry::new("", now, body.clone());
            entry.parent = parent.cloned();
            turn.apply(&entry);
        }
        turn
    }

    /// Resumes the turn with this lease and these limits; the time since its last entry does not count.
    pub(crate) fn resume(&self, lease: Lease, limits: TurnLimits) {
        let mut state = self.state();
        state.lease = lease;
        state.clock = Clock::start();
        let now = state.clock.now();
        state.turn.resume(limits, now);
    }

    /// Milliseconds since 1970, by the clock of the turn.
    pub(crate) fn now(&self) -> u64 {
        self.state().clock.now()
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Returns the arguments and the token of the last approval request for a call.
    pub(crate) fn approval_request(&self, call: &CallId) -> Option<(Value, ApprovalToken)> {
        let state = self.state();
        let (arguments, token) = find_approval_request(&state.entries, call)?;
        Some((arguments.clone(), token.clone()))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What caused entries.
#[derive(Default)]
pub(crate) struct Cause<'a> {
    /// The principal that sent them.
    pub(crate) principal: Option<&'a PrincipalRecord>,
    /// The inbox item that they are taken from.
    pub(crate) item: Option<&'a InboxItem>,
    /// The id of the entry that the first message follows.
    pub(crate) after: Option<&'a str>,
    /// The call that made the calls which the entries are about.
    pub(crate) parent: Option<&'a CallId>,
}

/// Returns true if entries must be on the disk before the turn goes on.
///
/// Losing the others in a power failure repeats work and has no effect: a step of the model, calls that may run again, and
/// messages that are still in the inbox then.
fn must_be_durable(turn: &Turn, entries: &[Entry], cause: &Cause<'_>) -> bool {
    let new_calls = entries.iter().flat_map(|entry| match &entry.body {
        EntryBody::Step { calls, .. } => calls.as_slice(),
        EntryBody::ChildCall { metadata, .. } => std::slice::from_ref(metadata),
        _ => &[],
    });
    let can_rerun = |call: &CallId| {
        let mut known = new_calls.clone().chain(turn.open_calls());
        known.any(|known| known.call == *call && known.can_rerun())
    };
    entries.iter().any(|entry| match &entry.body {
        EntryBody::User { .. } | EntryBody::Assistant { .. } => cause.item.is_none(),
        EntryBody::Step { .. } | EntryBody::ChildCall { .. } | EntryBody::Unknown(_) => false,
        EntryBody::CallStarted { call } => !can_rerun(call),
        EntryBody::CallFinished { result } => !can_rerun(&result.call_id),
        EntryBody::ApprovalRequested { .. }
        | EntryBody::ApprovalDecided { .. }
        | EntryBody::TurnEnded { .. } => true,
    })
}

/// Returns the arguments and the token of the last approval request for a call.
fn find_approval_request<'a>(
    entries: &'a [Entry],
    call: &CallId,
) -> Option<(&'a Value, &'a ApprovalToken)> {
    let mut newest = entries.iter().rev();
    newest.find_map(|entry| match &entry.body {
        EntryBody::ApprovalRequested { call: requested, arguments, token } if requested == call => {
            Some((arguments, token))
        }
        _ => None,
    })
}

/// The signature of a decision that was imported begins with it. It signs another text, so that it approves nothing.
const IMPORTED: &str = "imported:";

/// Returns the ids of the decisions of a journal that were not signed with one of the keys, as a decision of this store or as an
/// [imported](sign_imported_decisions) one.
pub fn find_unsigned_decisions(
    keys: &[Secret],
    conversation: &str,
    entries: &[Entry],
) -> Vec<String> {
    let signer = ApprovalSigner::with_keys(keys.to_vec());
    let mut unsigned = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let before = entries.get(..at).unwrap_or_default();
        let Some(text) = text_of_decision(conversation, entry, before) else {
            continue;
        };
        let is_signed = match &entry.body {
            EntryBody::ApprovalDecided { mac: Some(mac), .. } => match mac.strip_prefix(IMPORTED) {
                Some(mac) => signer.is_text_signature(&imported_text(&text), mac),
                None => signer.is_text_signature(&text, mac),
            },
            _ => false,
        };
        if !is_signed {
            unsigned.push(entry.id.clone());
        }
    }
    unsigned
}

/// Signs the decisions of a journal as imported, after [`import_journal`](crate::import_journal()): they let no call run, and differ
/// from decisions whose signature was removed.
pub fn sign_imported_decisions(keys: &[Secret], conversation: &str, entries: &mut [Entry]) {
    let signer = ApprovalSigner::with_keys(keys.to_vec());
    for at in 0..entries.len() {
        let (before, rest) = entries.split_at_mut(at);
        let Some(entry) = rest.first_mut() else { return };
        let text = text_of_decision(conversation, entry, before);
        if let (Some(text), EntryBody::ApprovalDecided { mac, .. }) = (text, &mut entry.body) {
            *mac = Some(format!("{IMPORTED}{}", signer.sign_text(&imported_text(&text))));
        }
    }
}

/// Returns the text that the signature of an entry covers, if that is a decision; the entries before it have the request.
fn text_of_decision(conversation: &str, entry: &Entry, before: &[Entry]) -> Option<String> {
    let EntryBody::ApprovalDecided { call, verdict, .. } = &entry.body else {
        return None;
    };
    let request = find_approval_request(before, call);
    Some(decision_text(conversation, call, verdict, request, entry.principal.as_ref()))
}

/// Returns the text that is signed for a decision that was imported.
fn imported_text(decision: &str) -> String {
    format!("{IMPORTED}{decision}")
}

/// Returns the text that the signature of a decision covers: with the token, so that it decides about one request only.
fn decision_text(
    conversation: &str,
    call: &CallId,
    verdict: &ApprovalVerdict,
    request: Option<(&Value, &ApprovalToken)>,
    approver: Option<&PrincipalRecord>,
) -> String {
    let approver = approver.map(|principal| principal.subject.as_str());
    let verdict = serde_json::to_value(verdict).unwrap_or_default();
    let signed = serde_json::json!([conversation, call, verdict, request, approver]);
    canonical_json(&signed).to_string()
}
