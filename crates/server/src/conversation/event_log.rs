//! The event log of a conversation: numbers events and keeps the newest, so that a client that reconnects receives each
//! event once.

use std::collections::VecDeque;
use std::sync::Arc;

use toolwright_chat::{ChatEvent, PendingApproval};

use crate::conversation::event::{ConversationEvent, EndpointEvent, PeerId, SequencedEvent};

/// The maximum number of events in a log.
const MAX_EVENTS: usize = 16 << 10;

/// The maximum size of the events in a log, in bytes.
const MAX_EVENT_BYTES: usize = 8 << 20;

/// Sequence numbers per term of the lease: more than the events of one.
///
/// With terms below 2^33, numbers stay below 2^53, the largest integer that JavaScript represents exactly.
const SEQS_PER_TERM: u64 = 1 << 20;

/// The newest events of a conversation, and the state derived from them.
pub(crate) struct EventLog {
    /// The term of the last lease, once it is known.
    term: Option<u64>,
    /// True while this process holds the lease: only then events have numbers.
    holds_lease: bool,
    /// The highest number that was used.
    newest_seq: u64,
    /// Events up to this number were evicted.
    evicted_up_to: u64,
    /// The position of the first event of the log; positions count all events of this log, also those without a number.
    first_position: u64,
    events: VecDeque<Arc<SequencedEvent>>,
    bytes: usize,
    /// The running turn, or the last one.
    turn: TurnMarker,
    /// The calls that wait for a decision.
    pending: PendingApprovals,
    /// The output of the current step, which is not in the journal yet.
    partial: PartialStep,
}

/// The calls that wait for a decision.
#[derive(Default)]
pub(crate) struct PendingApprovals(pub(crate) Vec<PendingApproval>);

impl PendingApprovals {
    /// Adds a call whose approval is requested; removes one that was decided or has a result.
    pub(crate) fn on_event(&mut self, event: &ChatEvent) {
        let call = match event {
            ChatEvent::ApprovalRequested(approval) => &approval.call.id,
            ChatEvent::ApprovalDecided { call, .. } => call,
            ChatEvent::Result { result, .. } => &result.call_id,
            _ => return,
        };
        self.0.retain(|known| known.call.id != *call);
        if let ChatEvent::ApprovalRequested(approval) = event {
            self.0.push(approval.clone());
        }
    }
}

/// The position of a turn in the log and in the journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TurnMarker {
    /// The number of turns so far.
    pub(crate) turn_number: u64,
    pub(crate) running: bool,
    /// The sequence number before its first event.
    pub(crate) seq_before: u64,
    /// Identifies the answer; unchanged when a paused turn resumes.
    pub(crate) answer_id: u64,
    /// The id of the last journal entry before it.
    pub(crate) entry_before: Option<String>,
}

/// The text of a step that has not ended.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct PartialStep {
    pub(crate) text: String,
    pub(crate) reasoning: String,
}

/// The result of a read.
pub(crate) enum LogRead {
    /// The next events.
    Events(Vec<Arc<SequencedEvent>>),
    /// There are no newer events.
    UpToDate,
    /// The next events were evicted, or the position is not one of this log.
    Gap,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self {
            term: None,
            holds_lease: false,
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
    pub(crate) fn knows_term(&self) -> bool {
        self.term.is_some()
    }

    /// Sets the term of the last lease that any process acquired: its numbers are all used.
    pub(crate) fn set_last_term(&mut self, term: u64) {
        if self.term.is_none() {
            self.term = Some(term);
            self.skip_to((term + 1) * SEQS_PER_TERM - 1);
        }
    }

    /// Starts to number events with the term of a lease that was acquired.
    ///
    /// If another process had the lease since, its events are missing here: every subscriber sees a gap.
    pub(crate) fn begin_term(&mut self, term: u64) {
        let first = term * SEQS_PER_TERM;
        if self.term.is_some_and(|last| last + 1 == term) {
            self.newest_seq = first;
        } else {
            self.skip_to(first);
        }
        self.term = Some(term);
        self.holds_lease = true;
    }

    /// Stops to number events: the lease is released, or lost.
    pub(crate) fn end_term(&mut self) {
        self.holds_lease = false;
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
    pub(crate) fn append(
        &mut self,
        event: ConversationEvent,
        to: Option<PeerId>,
    ) -> Arc<SequencedEvent> {
        self.apply(&event);
        let is_outside_turn = matches!(
            event,
            ConversationEvent::Endpoint(
                EndpointEvent::Peers { .. } | EndpointEvent::Withdrawn { .. }
            )
        );
        let next = self.newest_seq + 1;
        // The numbers of the next term belong to its holder.
        let has_number =
            self.holds_lease && !is_outside_turn && !next.is_multiple_of(SEQS_PER_TERM);
        let seq = has_number.then_some(next);
        self.newest_seq = seq.unwrap_or(self.newest_seq);
        let sequenced = Arc::new(SequencedEvent::new(seq, event, to));
        self.bytes += sequenced.sse_frame().len();
        self.events.push_back(Arc::clone(&sequenced));
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_EVENT_BYTES {
            self.evict_oldest();
        }
        sequenced
    }

    fn evict_oldest(&mut self) {
        if let Some(first) = self.events.pop_front() {
            self.bytes -= first.sse_frame().len();
            self.evicted_up_to = first.seq.unwrap_or(self.evicted_up_to);
            self.first_position += 1;
        }
    }

    fn apply(&mut self, event: &ConversationEvent) {
        if event.ends_or_pauses_turn() {
            // Together with the event: a subscriber that reads it finds the turn ended.
            self.turn.running = false;
        }
        if let ConversationEvent::Chat(event) = event {
            self.pending.on_event(event);
        }
        match event {
            ConversationEvent::Chat(ChatEvent::Text { delta }) => self.partial.text.push_str(delta),
            ConversationEvent::Chat(ChatEvent::Reasoning { delta }) => {
                self.partial.reasoning.push_str(delta)
            }
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
    pub(crate) fn begin_turn(&mut self, entry: Option<String>, is_new_answer: bool) -> u64 {
        let before = self.turn.seq_before;
        let is_older = |event: &Arc<SequencedEvent>| event.seq.is_some_and(|seq| seq <= before);
        for _ in 0..self.events.iter().rposition(is_older).map_or(0, |at| at + 1) {
            self.evict_oldest();
        }
        let after = self.newest_seq();
        self.turn = TurnMarker {
            turn_number: self.turn.turn_number + 1,
            running: true,
            seq_before: after,
            answer_id: if is_new_answer { after } else { self.turn.answer_id },
            entry_before: entry,
        };
        after
    }

    /// Evicts all events and skips a number, so that every subscriber sees a gap.
    pub(crate) fn clear(&mut self) {
        self.skip_to(self.newest_seq + 1);
        self.pending.0.clear();
        self.partial = PartialStep::default();
    }

    /// Marks the turn as ended or paused.
    pub(crate) fn end_turn(&mut self) {
        self.turn.running = false;
    }

    /// Returns the position after the event of a sequence number; `None` if events after it were evicted, or the number is
    /// not one of this log.
    pub(crate) fn position_after(&self, seq: u64) -> Option<u64> {
        if !self.retains_after(seq) {
            return None;
        }
        let is_read = |event: &Arc<SequencedEvent>| event.seq.is_some_and(|known| known <= seq);
        let read = self.events.iter().rposition(is_read).map_or(0, |at| at + 1);
        Some(self.first_position + u64::try_from(read).unwrap_or(u64::MAX))
    }

    /// Reads at most `max` events from a position on.
    pub(crate) fn events_from(&self, position: u64, max: usize) -> LogRead {
        let Some(skip) = position.checked_sub(self.first_position) else {
            return LogRead::Gap;
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let events: Vec<_> = self.events.iter().skip(skip).take(max).cloned().collect();
        match events.is_empty() {
            true => LogRead::UpToDate,
            false => LogRead::Events(events),
        }
    }

    /// The position of the next event.
    pub(crate) fn next_position(&self) -> u64 {
        self.first_position + u64::try_from(self.events.len()).unwrap_or(u64::MAX)
    }

    /// The highest sequence number that was used.
    pub(crate) fn newest_seq(&self) -> u64 {
        self.newest_seq
    }

    /// Returns true if no event after this number was evicted.
    pub(crate) fn retains_after(&self, seq: u64) -> bool {
        (self.evicted_up_to..=self.newest_seq()).contains(&seq)
    }

    pub(crate) fn turn(&self) -> &TurnMarker {
        &self.turn
    }

    pub(crate) fn pending(&self) -> &[PendingApproval] {
        &self.pending.0
    }

    pub(crate) fn partial(&self) -> &PartialStep {
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
        match log.events_from(log.position_after(after)?, usize::MAX) {
            LogRead::Events(events) => Some(events.iter().filter_map(|event| event.seq).collect()),
            LogRead::UpToDate => Some(Vec::new()),
            LogRead::Gap => None,
        }
    }

    fn held_log(term: u64) -> EventLog {
        let mut log = EventLog::new();
        log.set_last_term(term - 1);
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
        restarted.set_last_term(8);
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
    fn a_term_of_another_process_is_a_gap() {
        let mut log = held_log(3);
        log.append(text("a"), None);
        let newest = log.newest_seq();
        log.end_term();
        log.begin_term(5);
        assert_eq!(numbers(&log, newest), None);
        assert_eq!(numbers(&log, log.newest_seq()), Some(Vec::new()));
    }

    #[test]
    fn events_without_a_lease_and_presence_have_no_number() {
        let mut log = held_log(3);
        let newest = log.newest_seq();
        let position = log.position_after(newest).unwrap();
        log.append(EndpointEvent::Peers { count: 2 }.into(), None);
        log.end_term();
        log.append(text("a"), None);
        assert_eq!(log.newest_seq(), newest);
        assert_eq!(numbers(&log, newest), Some(Vec::new()));
        assert!(
            matches!(log.events_from(position, 9), LogRead::Events(events) if events.len() == 2)
        );
    }

    #[test]
    fn a_term_whose_numbers_are_used_up_takes_none_of_the_next_one() {
        let mut log = held_log(3);
        log.newest_seq = (4 << 20) - 2;
        assert_eq!(log.append(text("a"), None).seq, Some((4 << 20) - 1));
        assert_eq!(log.append(text("b"), None).seq, None);
        log.end_term();
        log.begin_term(4);
        assert_eq!(log.append(text("c"), None).seq, Some((4 << 20) + 1));
    }

    #[test]
    fn a_subscriber_of_a_cleared_log_sees_a_gap() {
        let mut log = held_log(1);
        log.append(text("a"), None);
        let newest = log.newest_seq();
        let position = log.next_position();
        log.clear();
        assert_eq!(numbers(&log, newest), None);
        assert!(matches!(log.events_from(position, 1), LogRead::Gap));
        assert_eq!(numbers(&log, log.newest_seq()), Some(Vec::new()));
    }
}
