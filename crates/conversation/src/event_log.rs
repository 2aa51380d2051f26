//! The event log of a conversation: numbers events and keeps the newest, so that a client that reconnects receives each
//! event once.
//!
//! The node that holds the lease numbers events. Other nodes append them with these numbers, so that a client may reconnect to
//! any node.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolwright_chat::{ChatEvent, PendingApproval};
use toolwright_core::__internal::unix_millis_now;

use crate::event::{ConversationEvent, EndpointEvent, PeerId};
use crate::logged_event::{EventBody, LoggedEvent, TextKind, WireEvent};

/// The maximum number of events in a log.
const MAX_EVENTS: usize = 16 << 10;

/// The maximum size of the events in a log, in bytes.
const MAX_EVENT_BYTES: usize = 8 << 20;

/// The maximum size of the events that are sent to another node at once, in bytes; it reads the journal instead.
const MAX_STATE_BYTES: usize = 2 << 20;

/// Sequence numbers per term of the lease: more than the events of one, mostly. The last one belongs to no event: it is the number
/// of the gap after a term that has used up the others.
///
/// With terms below 2^33, numbers stay below 2^53, the largest integer that JavaScript represents exactly.
const SEQS_PER_TERM: u64 = 1 << 20;

/// The number of a snapshot that may have more than the events of any number: a client that reconnects with it reads another one.
///
/// No log has it, because the numbers of the first term begin above.
pub const NO_SEQ: u64 = 0;

/// The newest events of a conversation, and the state derived from them.
pub struct EventLog {
    /// The term of the last lease, once it is known.
    term: Option<u64>,
    /// Where numbered events come from.
    source: EventSource,
    /// The last term that this node had.
    own_term: Option<u64>,
    /// The last term that this node has lost, and not released: what runs in it does not know that yet.
    lost_term: Option<u64>,
    /// True if the last turn began at this node.
    turn_is_own: bool,
    /// True if events of another node are missing, so that pending approvals have to be requested again.
    needs_recovery: bool,
    /// True if the last term of this node ended in the middle of a turn.
    is_interrupted: bool,
    /// The highest number that was used.
    newest_seq: u64,
    /// Events up to this number were evicted; above [`newest_seq`](Self::newest_seq) if events have no numbers any more.
    evicted_up_to: u64,
    /// The position of the first event of the log; positions count all events of this log, also those without a number.
    first_position: u64,
    events: VecDeque<Arc<LoggedEvent>>,
    bytes: usize,
    /// The running turn, or the last one.
    turn: TurnMarker,
    /// The calls that wait for a decision.
    pending: PendingApprovals,
    /// The output of the current step, which is not in the journal yet.
    partial: PartialStep,
}

/// Where the numbered events of a log come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSource {
    /// No node is known to hold the lease: what has happened until then is in the log or in the journal.
    Settled,
    /// The lease of another node has expired. That node can still renew it and append, until another one acquires it.
    Expired,
    /// This node holds the lease, and numbers events.
    Own,
    /// Another node holds the lease, and all its events were received.
    OtherNode,
    /// Events of another node are missing.
    Incomplete,
}

/// What happens to an event of another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAppend {
    Appended,
    /// The log has it already, or this node holds the lease.
    Ignored,
    /// Events before it are missing.
    Gap,
}

/// The state of a log that another node needs to continue it.
#[derive(Debug, Serialize, Deserialize)]
pub struct LogState {
    pub term: u64,
    newest_seq: u64,
    turn: TurnMarker,
    pending: Vec<PendingApproval>,
    partial: PartialStep,
    /// The events of the running turn; empty if they are too many.
    events: Vec<WireEvent>,
}

/// The calls that wait for a decision.
#[derive(Default)]
pub struct PendingApprovals(pub Vec<PendingApproval>);

impl PendingApprovals {
    /// Adds a call whose approval is requested; removes one that was decided or has a result.
    pub fn on_event(&mut self, event: &ChatEvent) {
        let call = match event {
            ChatEvent::ApprovalRequested(approval) => &approval.call.id,
            ChatEvent::ApprovalDecided { call, .. } => call,
            ChatEvent::Result { result, .. } => &result.call_id,
            _ => return,
        };
        self.0.retain(|known| known.call.id != *call);
        if let ChatEvent::ApprovalRequested(approval) = event {
            self.0.push(PendingApproval::clone(approval));
        }
    }
}

/// The position of a turn in the log and in the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnMarker {
    /// The number of turns so far, in this log.
    #[serde(skip)]
    pub turn_number: u64,
    pub running: bool,
    /// The sequence number before its first event.
    pub seq_before: u64,
    /// Identifies the answer; unchanged when a paused turn resumes.
    pub answer_id: u64,
    /// The id of the last journal entry before it.
    pub entry_before: Option<String>,
}

/// The text of a step that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialStep {
    pub text: String,
    pub reasoning: String,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRead {
    /// There are events.
    Events,
    /// There are no newer events.
    UpToDate,
    /// The next events were evicted, or the position is not one of this log.
    Gap,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self {
            term: None,
            source: EventSource::Settled,
            own_term: None,
            lost_term: None,
            turn_is_own: false,
            needs_recovery: false,
            is_interrupted: false,
            newest_seq: 0,
            evicted_up_to: 0,
            first_position: 0,
            events: VecDeque::new(),
            bytes: 0,
            turn: TurnMarker::default(),
            pending: PendingApprovals::default(),
            partial: PartialStep::default(),
        }
    }

    /// Returns true if a term is known, so that the next one shows whether another process had the lease in between.
    pub fn knows_term(&self) -> bool {
        self.term.is_some()
    }

    pub fn source(&self) -> EventSource {
        self.source
    }

    /// No node holds the lease, and the last one that did had this term: its numbers are all used, also those of events that
    /// are still on their way.
    pub fn settle(&mut self, term: u64) {
        let is_known = self.source == EventSource::Settled && self.term >= Some(term);
        // What was read from the store may be older than what the bus has brought meanwhile.
        if is_known || self.source == EventSource::Own || self.term > Some(term) {
            return;
        }
        self.needs_recovery = self.term.is_some();
        self.term = Some(term);
        self.source = EventSource::Settled;
        self.turn.running = false;
        self.skip_to((term + 1) * SEQS_PER_TERM - 1);
        self.clear_turn_state();
    }

    /// Another node has not renewed its lease of this term in time: what it appends from now on may not arrive here.
    pub fn expire(&mut self, term: u64) {
        let is_over = matches!(self.source, EventSource::Settled | EventSource::Expired);
        if self.source == EventSource::Own
            || self.term > Some(term)
            || is_over && self.term == Some(term)
        {
            return;
        }
        self.term = Some(term);
        self.lose_events();
        self.source = EventSource::Expired;
    }

    /// The term that another node had is over.
    pub fn settle_current_term(&mut self) {
        if let Some(term) = self.term {
            self.settle(term);
        }
    }

    /// Returns true if the log has all events of the terms up to this one, as far as they were published before the term was read.
    pub fn has_all_before(&self, term: u64) -> bool {
        let is_complete = !matches!(self.source, EventSource::Expired | EventSource::Incomplete);
        is_complete && self.term >= Some(term)
    }

    /// Returns true if this node was the last one that held the lease, as far as is known.
    pub fn was_last_holder(&self) -> bool {
        self.own_term.is_some() && self.own_term == self.term
    }

    /// Returns true if the last turn of the log began at this node.
    pub fn has_turn_of_own(&self) -> bool {
        self.turn_is_own
    }

    /// Returns true once after events of another node were missed.
    pub fn take_needs_recovery(&mut self) -> bool {
        std::mem::take(&mut self.needs_recovery)
    }

    /// Starts to number events with the term of a lease that was acquired; returns the newest number before it.
    ///
    /// If events of another node are missing here, or the last turn was interrupted, every subscriber sees a gap, and `None` is
    /// returned.
    pub fn begin_term(&mut self, term: u64) -> Option<u64> {
        let is_next = self.term.is_some_and(|last| last + 1 == term);
        let is_interrupted = std::mem::take(&mut self.is_interrupted);
        let is_complete = is_next && self.source == EventSource::Settled && !is_interrupted;
        let before = is_complete.then_some(self.newest_seq);
        if !is_complete {
            self.clear_turn_state();
        }
        self.turn.running = false;
        self.continue_with_term(term, is_complete);
        self.source = EventSource::Own;
        self.own_term = Some(term);
        before
    }

    fn continue_with_term(&mut self, term: u64, is_complete: bool) {
        let first = term * SEQS_PER_TERM;
        match is_complete {
            true => self.newest_seq = first,
            false => self.skip_to(first),
        }
        self.term = Some(term);
    }

    /// The turn was interrupted by an error of the store: what it wrote before that may not have been published, and its step is
    /// repeated.
    pub fn mark_interrupted(&mut self) {
        self.is_interrupted = true;
    }

    /// Returns true if what runs in this term of this node must not publish any more.
    pub fn has_lost(&self, term: u64) -> bool {
        self.lost_term >= Some(term)
    }

    /// This node has lost the lease in the middle of a turn, or gives it up there.
    pub fn lose_term(&mut self) {
        self.lost_term = self.own_term;
    }

    /// Stops to number events: the lease is released, or lost.
    pub fn end_term(&mut self) -> Option<u64> {
        if self.source != EventSource::Own {
            return None;
        }
        self.source = EventSource::Settled;
        if self.has_used_up_numbers() {
            // No number shows how many of the last events a client has.
            self.skip_to(self.newest_seq + 1);
        }
        self.term
    }

    /// Returns true if the next turn should have a new term, because this one has too few numbers left for a long turn.
    pub fn needs_new_term(&self) -> bool {
        self.source == EventSource::Own && self.newest_seq % SEQS_PER_TERM >= SEQS_PER_TERM / 2
    }

    /// Returns true if no event of this term can have a number any more.
    fn has_used_up_numbers(&self) -> bool {
        (self.newest_seq + 2).is_multiple_of(SEQS_PER_TERM)
    }

    /// Sets the highest number that was used. After the last one of a term, a client that reconnects reads a snapshot: events without
    /// numbers follow, and it may have any of them.
    fn advance_to(&mut self, seq: u64) {
        self.newest_seq = seq;
        if self.has_used_up_numbers() {
            self.evicted_up_to = seq + 1;
        }
    }

    /// Uses all numbers of the term but a few, for tests.
    pub fn use_numbers_but(&mut self, left: u64) {
        let term = self.term.unwrap_or_default();
        self.newest_seq = (term + 1) * SEQS_PER_TERM - 2 - left;
    }

    /// Another node has acquired the lease; `before` is the newest number before its term, if it knows it.
    pub fn on_remote_term(&mut self, term: u64, before: Option<u64>) {
        if self.term.is_some_and(|known| known >= term) {
            return;
        }
        let is_complete = match self.source {
            EventSource::Settled => self.term.is_some_and(|known| known + 1 == term),
            // The last events of the term before may still be on their way.
            EventSource::OtherNode => before == Some(self.newest_seq),
            EventSource::Own => {
                self.lose_term();
                false
            }
            EventSource::Expired | EventSource::Incomplete => false,
        };
        if !is_complete {
            self.clear_turn_state();
        }
        self.turn.running = false;
        self.continue_with_term(term, is_complete);
        self.source = EventSource::OtherNode;
    }

    /// The other node has released the lease, after the event of this number; `None` if its events are not those that the
    /// journal has. If events are missing here, every subscriber sees a gap.
    pub fn on_remote_term_end(&mut self, term: u64, newest_seq: Option<u64>) {
        let is_complete = self.term == Some(term)
            && self.source == EventSource::OtherNode
            && newest_seq == Some(self.newest_seq);
        if is_complete {
            self.source = EventSource::Settled;
            self.turn.running = false;
        } else if self.term <= Some(term) {
            self.settle(term);
        }
    }

    /// Appends an event of another node, with the number that it has there.
    pub fn append_remote(&mut self, wire: WireEvent) -> RemoteAppend {
        let is_expected = match (wire.seq, self.source) {
            (None, _) => true,
            (Some(_), EventSource::Own) => return RemoteAppend::Ignored,
            (Some(seq), _) if seq <= self.newest_seq => return RemoteAppend::Ignored,
            (Some(seq), EventSource::OtherNode) => seq == self.newest_seq + 1,
            (Some(_), EventSource::Settled | EventSource::Expired | EventSource::Incomplete) => {
                false
            }
        };
        if !is_expected {
            return RemoteAppend::Gap;
        }
        let event = LoggedEvent::from(wire);
        self.apply(&event.body);
        self.advance_to(event.seq.unwrap_or(self.newest_seq));
        self.push(event);
        RemoteAppend::Appended
    }

    /// A turn begins at another node.
    pub fn begin_remote_turn(&mut self, turn: TurnMarker) -> RemoteAppend {
        match self.source {
            EventSource::Own => RemoteAppend::Ignored,
            EventSource::OtherNode if turn.seq_before == self.newest_seq => {
                self.start_turn(turn);
                RemoteAppend::Appended
            }
            _ => RemoteAppend::Gap,
        }
    }

    /// The node that holds the lease does not respond: what the log has may be old.
    pub fn mark_incomplete(&mut self) {
        if self.source != EventSource::Incomplete {
            self.lose_events();
        }
    }

    /// Events of another node are missing: every subscriber sees a gap.
    pub fn lose_events(&mut self) {
        if self.source != EventSource::Own {
            self.source = EventSource::Incomplete;
            self.needs_recovery = true;
            self.turn.running = false;
            self.skip_to(self.newest_seq);
            self.clear_turn_state();
        }
    }

    /// A node holds the lease with this term: if the events here are those of an older one, or it was renewed after it had
    /// expired, every subscriber sees a gap.
    pub fn lose_events_before_term(&mut self, term: u64) {
        if self.term < Some(term) || self.source == EventSource::Expired {
            self.lose_events();
        }
    }

    /// The state that another node needs to continue this log.
    pub fn state(&self) -> Option<LogState> {
        let term = self.term.filter(|_| self.source == EventSource::Own)?;
        let is_sent =
            |event: &&Arc<LoggedEvent>| event.seq.is_some_and(|seq| seq > self.turn.seq_before);
        let events = self.events.iter().filter(is_sent);
        let bytes: usize = events.clone().map(|event| event.size()).sum();
        let sends_events = self.turn.running
            && self.retains_after(self.turn.seq_before)
            && bytes <= MAX_STATE_BYTES;
        Some(LogState {
            term,
            newest_seq: self.newest_seq,
            turn: self.turn.clone(),
            pending: self.pending.0.clone(),
            partial: self.partial.clone(),
            events: match sends_events {
                true => events.map(|event| event.to_wire()).collect(),
                false => Vec::new(),
            },
        })
    }

    /// Replaces the log by that of the node that holds the lease, unless it has the same events already.
    pub fn apply_state(&mut self, state: LogState) {
        let is_older = self.term.is_some_and(|known| known > state.term);
        let is_same = self.source == EventSource::OtherNode && self.newest_seq == state.newest_seq;
        if self.source == EventSource::Own || is_older || is_same {
            return;
        }
        let turn_number = self.turn.turn_number + 1;
        let has_turn = state.turn.running
            && (!state.events.is_empty() || state.turn.seq_before == state.newest_seq);
        self.skip_to(if has_turn { state.turn.seq_before } else { state.newest_seq });
        self.turn = TurnMarker { turn_number, ..state.turn };
        self.turn_is_own = false;
        self.term = Some(state.term);
        self.source = EventSource::OtherNode;
        for wire in state.events {
            self.newest_seq = wire.seq.unwrap_or(self.newest_seq);
            self.push(wire.into());
        }
        self.advance_to(state.newest_seq);
        self.pending.0 = state.pending;
        self.partial = state.partial;
    }

    fn clear_turn_state(&mut self) {
        self.turn_is_own = false;
        self.pending.0.clear();
        self.partial = PartialStep::default();
    }

    /// Evicts all events, and continues after this number.
    fn skip_to(&mut self, seq: u64) {
        while !self.events.is_empty() {
            self.evict_oldest();
        }
        self.first_position += 1;
        self.newest_seq = seq;
        self.evicted_up_to = seq;
        self.turn.seq_before = seq;
        self.turn.answer_id = seq;
    }

    /// Appends an event, with a number if this process holds the lease; what does not belong to a turn never has one.
    pub fn append(&mut self, event: ConversationEvent, to: Option<PeerId>) -> Arc<LoggedEvent> {
        let is_outside_turn = matches!(
            event,
            ConversationEvent::Endpoint(
                EndpointEvent::Peers { .. } | EndpointEvent::Withdrawn { .. }
            )
        );
        let body = EventBody::from(event);
        self.apply(&body);
        // The numbers of the next term belong to its holder.
        let has_number =
            self.source == EventSource::Own && !is_outside_turn && !self.has_used_up_numbers();
        let seq = has_number.then_some(self.newest_seq + 1);
        if let Some(seq) = seq {
            self.advance_to(seq);
        }
        self.push(LoggedEvent { seq, at: unix_millis_now(), recipient: to, body })
    }

    fn push(&mut self, event: LoggedEvent) -> Arc<LoggedEvent> {
        let event = Arc::new(event);
        self.bytes += event.size();
        self.events.push_back(Arc::clone(&event));
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_EVENT_BYTES {
            self.evict_oldest();
        }
        event
    }

    fn evict_oldest(&mut self) {
        if let Some(first) = self.events.pop_front() {
            self.bytes -= first.size();
            self.evicted_up_to = self.evicted_up_to.max(first.seq.unwrap_or_default());
            self.first_position += 1;
        }
    }

    /// Updates the state that is derived from the events.
    fn apply(&mut self, body: &EventBody) {
        let event = match body {
            EventBody::Text(TextKind::Text, delta) => return self.partial.text.push_str(delta),
            EventBody::Text(TextKind::Reasoning, delta) => {
                return self.partial.reasoning.push_str(delta);
            }
            EventBody::Other(event, _) => &**event,
        };
        if event.ends_or_pauses_turn() {
            // Together with the event: a subscriber that reads it finds the turn ended.
            self.turn.running = false;
        }
        if let ConversationEvent::Chat(event) = event {
            self.pending.on_event(event);
        }
        match event {
            ConversationEvent::Chat(ChatEvent::Step { .. }) => {
                self.partial = PartialStep::default()
            }
            ConversationEvent::Chat(ChatEvent::TurnEnded { .. })
            | ConversationEvent::Endpoint(
                EndpointEvent::Message { .. } | EndpointEvent::Error { .. },
            ) => {
                self.partial = PartialStep::default();
                if !matches!(event, ConversationEvent::Endpoint(EndpointEvent::Error { .. })) {
                    self.pending.0.clear();
                }
            }
            _ => {}
        }
    }

    /// Starts a turn; evicts the events before the previous one. Returns the sequence number before its first event.
    pub fn begin_turn(&mut self, entry: Option<String>, is_new_answer: bool) -> u64 {
        let after = self.newest_seq();
        self.start_turn(TurnMarker {
            turn_number: 0,
            running: true,
            seq_before: after,
            answer_id: if is_new_answer { after } else { self.turn.answer_id },
            entry_before: entry,
        });
        after
    }

    fn start_turn(&mut self, turn: TurnMarker) {
        let before = self.turn.seq_before;
        let is_older = |event: &Arc<LoggedEvent>| event.seq.is_some_and(|seq| seq <= before);
        for _ in 0..self.events.iter().rposition(is_older).map_or(0, |at| at + 1) {
            self.evict_oldest();
        }
        self.turn_is_own = self.source == EventSource::Own;
        self.turn = TurnMarker { turn_number: self.turn.turn_number + 1, ..turn };
    }

    /// Evicts all events and skips a number, so that every subscriber sees a gap.
    pub fn clear(&mut self) {
        self.skip_to(self.newest_seq + 1);
        self.clear_turn_state();
    }

    /// Marks the turn as ended or paused.
    pub fn end_turn(&mut self) {
        self.turn.running = false;
    }

    /// Returns the position after the event of a sequence number; `None` if events after it were evicted, or the number is
    /// not one of this log.
    pub fn position_after(&self, seq: u64) -> Option<u64> {
        if !self.retains_after(seq) {
            return None;
        }
        let is_read = |event: &Arc<LoggedEvent>| event.seq.is_some_and(|known| known <= seq);
        let read = self.events.iter().rposition(is_read).map_or(0, |at| at + 1);
        Some(self.first_position + u64::try_from(read).unwrap_or(u64::MAX))
    }

    /// Reads at most `max` events from a position on.
    pub fn read_from(
        &self,
        position: u64,
        max: usize,
        on_event: impl FnMut(&Arc<LoggedEvent>),
    ) -> LogRead {
        let Some(skip) = position.checked_sub(self.first_position) else {
            return LogRead::Gap;
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        if skip >= self.events.len() {
            return LogRead::UpToDate;
        }
        self.events.iter().skip(skip).take(max).for_each(on_event);
        LogRead::Events
    }

    /// The position of the next event.
    pub fn next_position(&self) -> u64 {
        self.first_position + u64::try_from(self.events.len()).unwrap_or(u64::MAX)
    }

    /// The highest sequence number that was used.
    pub fn newest_seq(&self) -> u64 {
        self.newest_seq
    }

    /// Returns true if no event after this number was evicted.
    pub fn retains_after(&self, seq: u64) -> bool {
        (self.evicted_up_to..=self.newest_seq()).contains(&seq)
    }

    pub fn turn(&self) -> &TurnMarker {
        &self.turn
    }

    pub fn pending(&self) -> &[PendingApproval] {
        &self.pending.0
    }

    pub fn partial(&self) -> &PartialStep {
        &self.partial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(delta: &str) -> ConversationEvent {
        let delta = delta.to_owned();
        ConversationEvent::Chat(ChatEvent::Text { delta })
    }

    fn numbers(log: &EventLog, after: u64) -> Option<Vec<u64>> {
        let mut numbers = Vec::new();
        let position = log.position_after(after)?;
        match log.read_from(position, usize::MAX, |event| numbers.extend(event.seq)) {
            LogRead::Events | LogRead::UpToDate => Some(numbers),
            LogRead::Gap => None,
        }
    }

    /// The number of events from a position on.
    fn count_from(log: &EventLog, position: u64) -> usize {
        let mut count = 0;
        log.read_from(position, usize::MAX, |_| count += 1);
        count
    }

    fn held_log(term: u64) -> EventLog {
        let mut log = EventLog::new();
        log.settle(term - 1);
        log.begin_term(term);
        log
    }

    #[test]
    fn events_are_kept_until_the_turn_after_the_next() {
        let mut log = held_log(1);
        let first = log.begin_turn(None, true);
        log.append(text("a"), None);
        let second = log.begin_turn(None, true);
        log.append(text("b"), None);
        assert_eq!(numbers(&log, first), Some(vec![first + 1, first + 2]));
        let third = log.begin_turn(None, true);
        assert_eq!(numbers(&log, first), None);
        assert_eq!(numbers(&log, second), Some(vec![second + 1]));
        assert_eq!(numbers(&log, third), Some(Vec::new()));
        assert_eq!(numbers(&log, third + 1), None);
    }

    #[test]
    fn a_turn_that_is_too_long_loses_its_beginning_and_keeps_its_numbers() {
        let mut log = held_log(1);
        let begin = log.begin_turn(None, true);
        let long = "x".repeat(1 << 20);
        for _ in 0..20 {
            log.append(text(&long), None);
        }
        assert_eq!(numbers(&log, begin), None);
        assert!(!log.retains_after(begin));
        let newest = log.newest_seq();
        assert_eq!(newest, begin + 20);
        assert_eq!(numbers(&log, newest - 3), Some(vec![newest - 2, newest - 1, newest]));
        assert!(log.bytes <= MAX_EVENT_BYTES);
        // The text that is not in the journal yet is still complete.
        assert_eq!(log.partial().text.len(), 20 << 20);
    }

    #[test]
    fn numbers_rise_from_term_to_term_and_pages_can_count_them() {
        let mut log = held_log(7);
        log.append(text("a"), None);
        let before = log.newest_seq();
        assert_eq!(before, (7 << 20) + 1);
        log.end_term();
        log.begin_term(8);
        log.append(text("b"), None);
        assert_eq!(numbers(&log, before), Some(vec![(8 << 20) + 1]), "no other process had it");
        // A log of a process that was restarted: no number of the terms before is one of it.
        let mut restarted = EventLog::new();
        restarted.settle(8);
        assert_eq!(numbers(&restarted, log.newest_seq()), None);
        assert!(restarted.newest_seq() > log.newest_seq());
        restarted.begin_term(9);
        restarted.append(text("c"), None);
        assert!(restarted.newest_seq() > log.newest_seq());
        let mut last = held_log((1 << 33) - 1);
        last.append(text("d"), None);
        assert!(last.newest_seq() < 1 << 53);
    }

    #[test]
    fn a_turn_that_was_interrupted_is_a_gap_when_it_resumes() {
        let mut log = held_log(7);
        log.append(text("a"), None);
        let newest = log.newest_seq();
        log.end_term();
        log.mark_interrupted();
        assert_eq!(numbers(&log, newest - 1), Some(vec![newest]), "an error is delivered first");
        assert_eq!(log.begin_term(8), None);
        assert_eq!(numbers(&log, newest), None);
    }

    #[test]
    fn a_term_of_another_process_is_a_gap() {
        let mut log = held_log(3);
        log.append(text("a"), None);
        let newest = log.newest_seq();
        log.end_term();
        log.begin_term(5);
        assert_eq!(numbers(&log, newest), None);
        assert_eq!(numbers(&log, log.newest_seq()), Some(Vec::new()));
    }

    fn wire(seq: u64, delta: &str) -> WireEvent {
        WireEvent { seq: Some(seq), at: 0, event: text(delta), to: None }
    }

    #[test]
    fn events_of_another_node_are_appended_in_order_and_once() {
        let mut log = EventLog::new();
        log.settle(3);
        log.on_remote_term(4, None);
        let first = 4 * SEQS_PER_TERM;
        let appends = [first + 1, first + 1, first + 2, first + 4]
            .map(|seq| log.append_remote(wire(seq, "a")));
        use RemoteAppend::{Appended, Gap, Ignored};
        assert_eq!(appends, [Appended, Ignored, Appended, Gap]);
        log.lose_events();
        assert_eq!(log.append_remote(wire(first + 3, "a")), Gap, "until the state is known");
    }

    #[test]
    fn the_next_term_of_another_node_continues_a_log_that_has_all_of_the_last_one() {
        let mut log = held_log(3);
        log.append(text("a"), None);
        let newest = log.newest_seq();
        log.end_term();
        log.on_remote_term(4, None);
        assert_eq!(log.append_remote(wire(4 * SEQS_PER_TERM + 1, "b")), RemoteAppend::Appended);
        assert_eq!(numbers(&log, newest), Some(vec![4 * SEQS_PER_TERM + 1]));
        // The end of that term did not arrive: its last events may be missing.
        log.on_remote_term(5, None);
        assert_eq!(numbers(&log, newest), None);
    }

    #[test]
    fn a_term_that_ends_with_events_that_did_not_arrive_is_a_gap() {
        let first = 4 * SEQS_PER_TERM;
        for (last, is_complete) in [(first + 1, true), (first + 2, false)] {
            let mut log = EventLog::new();
            log.settle(3);
            log.on_remote_term(4, None);
            log.append_remote(wire(first + 1, "a"));
            log.on_remote_term_end(4, Some(last));
            assert_eq!(log.source(), EventSource::Settled);
            assert_eq!(numbers(&log, first + 1).is_some(), is_complete, "{last}");
            // It arrives late.
            assert_eq!(log.append_remote(wire(first + 2, "b")) == RemoteAppend::Gap, is_complete);
            log.on_remote_term_end(3, Some(3 * SEQS_PER_TERM + 9));
            assert_eq!(numbers(&log, first + 1).is_some(), is_complete, "an older term");
        }
    }

    #[test]
    fn a_log_continues_from_the_state_of_the_node_that_holds_the_lease() {
        let mut holder = held_log(7);
        let before = holder.begin_turn(Some("entry".to_owned()), true);
        holder.append(text("a"), None);
        holder.append(text("b"), None);
        let state = serde_json::to_string(&holder.state()).unwrap();
        let mut log = EventLog::new();
        log.settle(2);
        log.apply_state(serde_json::from_str(&state).unwrap());
        assert_eq!(numbers(&log, before), numbers(&holder, before));
        assert_eq!(log.partial(), holder.partial());
        assert!(log.turn().running && log.turn().entry_before.as_deref() == Some("entry"));
        let next = holder.append(text("c"), None);
        assert_eq!(log.append_remote(next.to_wire()), RemoteAppend::Appended);
    }

    #[test]
    fn a_lease_that_expired_may_be_renewed_and_events_of_its_term_follow() {
        let follower = || {
            let mut log = EventLog::new();
            log.settle(3);
            log.on_remote_term(4, None);
            log.append_remote(wire(4 * SEQS_PER_TERM + 1, "a"));
            assert!(log.has_all_before(4) && !log.has_all_before(5));
            log.expire(4);
            assert!(!log.has_all_before(4));
            (log, 4 * SEQS_PER_TERM + 1)
        };
        let (mut log, last) = follower();
        assert_eq!(log.append_remote(wire(last + 1, "b")), RemoteAppend::Gap);
        log.lose_events();
        log.on_remote_term_end(4, Some(last + 1));
        assert!(log.has_all_before(4));
        assert_eq!(numbers(&log, last), None);
        // The next holder may be this node or another one: the last events of the term may be missing.
        let (mut log, last) = follower();
        assert_eq!(log.begin_term(5), None);
        assert_eq!(numbers(&log, last), None);
        let (mut log, last) = follower();
        log.on_remote_term(5, Some(last));
        assert_eq!(numbers(&log, last), None);
        // A term that has ended does not expire any more.
        let mut log = held_log(4);
        log.end_term();
        log.expire(4);
        assert!(log.has_all_before(4));
    }

    #[test]
    fn late_events_of_a_term_that_is_over_are_ignored() {
        let mut log = EventLog::new();
        log.settle(4);
        let late = 4 * SEQS_PER_TERM + 9;
        assert_eq!(log.append_remote(wire(late, "a")), RemoteAppend::Ignored);
    }

    #[test]
    fn a_holder_that_lost_its_lease_stops_to_number_events() {
        let mut log = held_log(3);
        log.on_remote_term(4, None);
        assert_eq!(log.append(text("a"), None).seq, None);
        assert_eq!(log.end_term(), None);
    }

    #[test]
    fn events_without_a_lease_and_presence_have_no_number() {
        let mut log = held_log(3);
        let newest = log.newest_seq();
        let position = log.position_after(newest).unwrap();
        log.append(EndpointEvent::Peers { count: 2, participants: Vec::new() }.into(), None);
        log.end_term();
        log.append(text("a"), None);
        assert_eq!(log.newest_seq(), newest);
        assert_eq!(numbers(&log, newest), Some(Vec::new()));
        assert_eq!(count_from(&log, position), 2);
    }

    #[test]
    fn a_term_whose_numbers_are_used_up_takes_none_of_the_next_one() {
        let mut log = held_log(3);
        log.use_numbers_but(1);
        assert!(log.needs_new_term());
        let last = (4 << 20) - 2;
        assert_eq!(log.append(text("a"), None).seq, Some(last));
        let position = log.next_position();
        assert_eq!(log.append(text("b"), None).seq, None);
        // A client that is connected goes on, and one that reconnects reads a snapshot: it may have the second event, or not.
        assert_eq!(count_from(&log, position), 1);
        assert_eq!(numbers(&log, last), None);
        log.end_term();
        assert_eq!(numbers(&log, last), None);
        assert_eq!(numbers(&log, log.newest_seq()), Some(Vec::new()));
        log.begin_term(4);
        assert!(!log.needs_new_term());
        assert_eq!(log.append(text("c"), None).seq, Some((4 << 20) + 1));
        assert_eq!(numbers(&log, last), None);
        assert_eq!(numbers(&log, 4 << 20), Some(vec![(4 << 20) + 1]));
    }

    #[test]
    fn another_node_has_a_gap_where_the_numbers_of_a_term_are_used_up() {
        let mut holder = held_log(3);
        holder.begin_turn(None, true);
        holder.use_numbers_but(1);
        let mut log = EventLog::new();
        log.settle(2);
        log.apply_state(
            serde_json::from_value(serde_json::to_value(holder.state()).unwrap()).unwrap(),
        );
        for _ in 0..3 {
            log.append_remote(holder.append(text("a"), None).to_wire());
        }
        let last = holder.newest_seq();
        assert_eq!((log.newest_seq(), numbers(&log, last)), (last, None));
        assert_eq!(log.partial(), holder.partial());
        // One that joins now has the text, and no events.
        let mut joined = EventLog::new();
        joined.settle(2);
        joined.apply_state(
            serde_json::from_value(serde_json::to_value(holder.state()).unwrap()).unwrap(),
        );
        assert_eq!((joined.partial().text.as_str(), numbers(&joined, last)), ("aaa", None));
        holder.end_term();
        log.on_remote_term_end(3, Some(holder.newest_seq()));
        assert_eq!((log.newest_seq(), numbers(&log, last)), (holder.newest_seq(), None));
    }

    #[test]
    fn a_subscriber_of_a_cleared_log_sees_a_gap() {
        let mut log = held_log(1);
        log.append(text("a"), None);
        let newest = log.newest_seq();
        let position = log.next_position();
        log.clear();
        assert_eq!(numbers(&log, newest), None);
        assert_eq!(log.read_from(position, 1, |_| {}), LogRead::Gap);
        assert_eq!(numbers(&log, log.newest_seq()), Some(Vec::new()));
    }
}
