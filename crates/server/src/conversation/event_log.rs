//! The event log of a conversation: numbers events and keeps the newest, so that a client that reconnects receives each
//! event once.

use std::collections::VecDeque;
use std::sync::Arc;

use toolwright_chat::{ChatEvent, PendingApproval};

use crate::conversation::event::{
    ConversationEvent, EndpointEvent, PeerId, SequencedEvent, unix_millis_now,
};

/// The maximum number of events in a log.
const MAX_EVENTS: usize = 16 << 10;

/// The maximum size of the events in a log, in bytes.
const MAX_EVENT_BYTES: usize = 8 << 20;

/// Sequence numbers per millisecond: more than a conversation uses, so that a log that is created later starts higher.
///
/// The product stays below 2^53, the largest integer that JavaScript represents exactly.
const SEQS_PER_MILLISECOND: u64 = 1 << 10;

/// The newest events of a conversation, and the state derived from them.
pub(crate) struct EventLog {
    /// The sequence number of the next event.
    next_seq: u64,
    /// Events up to this number were evicted.
    evicted_up_to: u64,
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
        let begin = unix_millis_now().saturating_mul(SEQS_PER_MILLISECOND);
        Self {
            next_seq: begin + 1,
            evicted_up_to: begin,
            events: VecDeque::new(),
            bytes: 0,
            turn: TurnMarker { seq_before: begin, answer_id: begin, ..TurnMarker::default() },
            pending: PendingApprovals::default(),
            partial: PartialStep::default(),
        }
    }

    /// Appends an event.
    pub(crate) fn append(
        &mut self,
        event: ConversationEvent,
        to: Option<PeerId>,
    ) -> Arc<SequencedEvent> {
        self.apply(&event);
        let sequenced = Arc::new(SequencedEvent::new(self.next_seq, event, to));
        self.next_seq += 1;
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
            self.evicted_up_to = first.seq;
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
        while self.events.front().is_some_and(|first| first.seq <= before) {
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
        while !self.events.is_empty() {
            self.evict_oldest();
        }
        self.next_seq += 1;
        self.evicted_up_to = self.next_seq - 1;
        self.pending.0.clear();
        self.partial = PartialStep::default();
        self.turn.seq_before = self.evicted_up_to;
    }

    /// Marks the turn as ended or paused.
    pub(crate) fn end_turn(&mut self) {
        self.turn.running = false;
    }

    /// Reads at most `max` events after a sequence number.
    pub(crate) fn events_after(&self, seq: u64, max: usize) -> LogRead {
        if seq < self.evicted_up_to || seq > self.newest_seq() {
            return LogRead::Gap;
        }
        // Numbers have no gaps, so the index follows from the number.
        let skip = usize::try_from(seq - self.evicted_up_to).unwrap_or(usize::MAX);
        let events: Vec<_> = self.events.iter().skip(skip).take(max).cloned().collect();
        match events.is_empty() {
            true => LogRead::UpToDate,
            false => LogRead::Events(events),
        }
    }

    /// The sequence number of the newest event.
    pub(crate) fn newest_seq(&self) -> u64 {
        self.next_seq - 1
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

    fn numbers(log: &EventLog, after: u64) -> Vec<u64> {
        match log.events_after(after, usize::MAX) {
            LogRead::Events(events) => events.iter().map(|event| event.seq).collect(),
            LogRead::UpToDate => Vec::new(),
            LogRead::Gap => panic!("a gap after {after}"),
        }
    }

    #[test]
    fn events_are_kept_until_the_turn_after_the_next() {
        let mut log = EventLog::new();
        let first = log.begin_turn(None, true);
        log.append(text("a"), None);
        let second = log.begin_turn(None, true);
        log.append(text("b"), None);
        assert_eq!(numbers(&log, first), [first + 1, first + 2]);
        let third = log.begin_turn(None, true);
        assert!(matches!(log.events_after(first, 1), LogRead::Gap));
        assert_eq!(numbers(&log, second), [second + 1]);
        assert_eq!(numbers(&log, third), Vec::<u64>::new());
        assert!(matches!(log.events_after(third + 1, 1), LogRead::Gap));
    }

    #[test]
    fn a_turn_that_is_too_long_loses_its_beginning_and_keeps_its_numbers() {
        let mut log = EventLog::new();
        let begin = log.begin_turn(None, true);
        let long = "x".repeat(1 << 20);
        for _ in 0..20 {
            log.append(text(&long), None);
        }
        assert!(matches!(log.events_after(begin, 1), LogRead::Gap));
        assert!(!log.retains_after(begin));
        let newest = log.newest_seq();
        assert_eq!(newest, begin + 20);
        assert_eq!(numbers(&log, newest - 3), [newest - 2, newest - 1, newest]);
        assert!(log.bytes <= MAX_EVENT_BYTES);
        // The text that is not in the journal yet is still complete.
        assert_eq!(log.partial().text.len(), 20 << 20);
    }

    #[test]
    fn numbers_of_a_log_that_is_made_later_are_higher_and_pages_can_count_them() {
        let mut log = EventLog::new();
        for _ in 0..100 {
            log.append(text("a"), None);
        }
        let before = log.newest_seq();
        // Wait until the clock has advanced past the numbers that were used.
        while unix_millis_now() * SEQS_PER_MILLISECOND <= before {}
        assert!(EventLog::new().newest_seq() > before);
        assert!(before < 1 << 53);
    }

    #[test]
    fn a_subscriber_of_a_cleared_log_sees_a_gap() {
        let mut log = EventLog::new();
        log.append(text("a"), None);
        let newest = log.newest_seq();
        log.clear();
        assert!(matches!(log.events_after(newest, 1), LogRead::Gap));
        assert!(matches!(log.events_after(log.newest_seq(), 1), LogRead::UpToDate));
    }
}
