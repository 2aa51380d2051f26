//! Events in, numbers out: the newest stay, so that whoever comes back gets the rest exactly once.

use std::collections::VecDeque;
use std::sync::Arc;

use toolwright_chat::{PendingApproval, ChatEvent};

use crate::event::{Event, Notice, Numbered, PeerId, now};

/// The most events that are kept.
const MOST: usize = 16 << 10;

/// The most bytes of events that are kept.
const MOST_BYTES: usize = 8 << 20;

/// Numbers per millisecond: more than a conversation can use up, so that a log that is made later begins higher.
///
/// The product stays below 2^53, which is as far as pages can count.
const PER_MILLISECOND: u64 = 1 << 10;

/// The newest events of a conversation.
pub(crate) struct Log {
    /// The number of the next event.
    next: u64,
    /// Up to this number, nothing is kept.
    floor: u64,
    kept: VecDeque<Arc<Numbered>>,
    bytes: usize,
    /// Where the turn that runs began, or the last that ran.
    turn: Turn,
    /// The calls that somebody has to decide about.
    pending: Vec<PendingApproval>,
    /// What was said of a step that is not over: the journal does not have it yet.
    partial: Partial,
}

/// Where a turn began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Turn {
    /// How many turns there were.
    pub(crate) count: u64,
    pub(crate) runs: bool,
    /// The number before its first event.
    pub(crate) after: u64,
    /// Which answer it is: the same while it goes on after a pause.
    pub(crate) answer: u64,
    /// The last entry of the journal before it.
    pub(crate) entry: Option<String>,
}

/// What was said of a step that is not over.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Partial {
    pub(crate) text: String,
    pub(crate) reasoning: String,
}

/// What a reader gets.
pub(crate) enum Read {
    /// These come next.
    Events(Vec<Arc<Numbered>>),
    /// Nothing new.
    Nothing,
    /// What came next is gone, or never was.
    Gap,
}

impl Log {
    pub(crate) fn new() -> Self {
        let begin = now().saturating_mul(PER_MILLISECOND);
        Self {
            next: begin + 1,
            floor: begin,
            kept: VecDeque::new(),
            bytes: 0,
            turn: Turn {
                after: begin,
                answer: begin,
                ..Turn::default()
            },
            pending: Vec::new(),
            partial: Partial::default(),
        }
    }

    /// Keeps an event.
    pub(crate) fn push(&mut self, event: Event, to: Option<PeerId>) -> Arc<Numbered> {
        self.note(&event);
        let numbered = Arc::new(Numbered::new(self.next, event, to));
        self.next += 1;
        self.bytes += numbered.frame().len();
        self.kept.push_back(Arc::clone(&numbered));
        while self.kept.len() > MOST || self.bytes > MOST_BYTES {
            self.drop_first();
        }
        numbered
    }

    fn drop_first(&mut self) {
        if let Some(first) = self.kept.pop_front() {
            self.bytes -= first.frame().len();
            self.floor = first.seq;
        }
    }

    fn note(&mut self, event: &Event) {
        if event.is_last() {
            // In the same breath: who reads the last event finds the turn over.
            self.turn.runs = false;
        }
        match event {
            Event::Chat(ChatEvent::Text { delta }) => self.partial.text.push_str(delta),
            Event::Chat(ChatEvent::Reasoning { delta }) => self.partial.reasoning.push_str(delta),
            Event::Chat(ChatEvent::Step { .. }) => self.partial = Partial::default(),
            Event::Chat(ChatEvent::ApprovalRequested(asked)) => {
                self.pending.retain(|known| known.call.id != asked.call.id);
                self.pending.push(asked.clone());
            }
            Event::Chat(ChatEvent::ApprovalDecided { call, .. }) => {
                self.pending.retain(|asked| asked.call.id != *call);
            }
            Event::Chat(ChatEvent::Result { result, .. }) => {
                self.pending.retain(|asked| asked.call.id != result.call);
            }
            Event::Chat(ChatEvent::TurnEnded { .. })
            | Event::Notice(Notice::Said { .. } | Notice::Error { .. }) => {
                self.partial = Partial::default();
                if !matches!(event, Event::Notice(Notice::Error { .. })) {
                    self.pending.clear();
                }
            }
            _ => {}
        }
    }

    /// A turn begins; what came before the last one is dropped.
    pub(crate) fn begin(&mut self, entry: Option<String>, anew: bool) -> u64 {
        let before = self.turn.after;
        while self.kept.front().is_some_and(|first| first.seq <= before) {
            self.drop_first();
        }
        let after = self.newest();
        self.turn = Turn {
            count: self.turn.count + 1,
            runs: true,
            after,
            answer: if anew { after } else { self.turn.answer },
            entry,
        };
        after
    }

    /// Drops everything, a number with it: whoever reads has missed something.
    pub(crate) fn clear(&mut self) {
        while !self.kept.is_empty() {
            self.drop_first();
        }
        self.next += 1;
        self.floor = self.next - 1;
        self.pending.clear();
        self.partial = Partial::default();
        self.turn.after = self.floor;
    }

    /// The turn is over, or waits.
    pub(crate) fn end(&mut self) {
        self.turn.runs = false;
    }

    /// Reads what comes after a number, at most so many.
    pub(crate) fn after(&self, seq: u64, most: usize) -> Read {
        if seq < self.floor || seq > self.newest() {
            return Read::Gap;
        }
        // Numbers have no gaps, so the place is known.
        let skip = usize::try_from(seq - self.floor).unwrap_or(usize::MAX);
        let events: Vec<_> = self.kept.iter().skip(skip).take(most).cloned().collect();
        match events.is_empty() {
            true => Read::Nothing,
            false => Read::Events(events),
        }
    }

    /// The number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        self.next - 1
    }

    /// Tells whether what comes after a number is there.
    pub(crate) fn has(&self, seq: u64) -> bool {
        (self.floor..=self.newest()).contains(&seq)
    }

    pub(crate) fn turn(&self) -> &Turn {
        &self.turn
    }

    pub(crate) fn pending(&self) -> &[PendingApproval] {
        &self.pending
    }

    pub(crate) fn partial(&self) -> &Partial {
        &self.partial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(delta: &str) -> Event {
        let delta = delta.to_owned();
        Event::Chat(ChatEvent::Text { delta })
    }

    fn numbers(log: &Log, after: u64) -> Vec<u64> {
        match log.after(after, usize::MAX) {
            Read::Events(events) => events.iter().map(|event| event.seq).collect(),
            Read::Nothing => Vec::new(),
            Read::Gap => panic!("a gap after {after}"),
        }
    }

    #[test]
    fn what_comes_after_a_number_is_there_until_the_turn_after_the_next() {
        let mut log = Log::new();
        let first = log.begin(None, true);
        log.push(text("a"), None);
        let second = log.begin(None, true);
        log.push(text("b"), None);
        assert_eq!(numbers(&log, first), [first + 1, first + 2]);
        let third = log.begin(None, true);
        assert!(matches!(log.after(first, 1), Read::Gap));
        assert_eq!(numbers(&log, second), [second + 1]);
        assert_eq!(numbers(&log, third), Vec::<u64>::new());
        assert!(matches!(log.after(third + 1, 1), Read::Gap));
    }

    #[test]
    fn a_turn_that_is_too_long_loses_its_beginning_and_never_the_count() {
        let mut log = Log::new();
        let begin = log.begin(None, true);
        let long = "x".repeat(1 << 20);
        for _ in 0..20 {
            log.push(text(&long), None);
        }
        assert!(matches!(log.after(begin, 1), Read::Gap));
        assert!(!log.has(begin));
        let newest = log.newest();
        assert_eq!(newest, begin + 20);
        assert_eq!(numbers(&log, newest - 3), [newest - 2, newest - 1, newest]);
        assert!(log.bytes <= MOST_BYTES);
        // What the journal does not have is not lost with it.
        assert_eq!(log.partial().text.len(), 20 << 20);
    }

    #[test]
    fn numbers_of_a_log_that_is_made_later_are_higher_and_pages_can_count_them() {
        let mut log = Log::new();
        for _ in 0..100 {
            log.push(text("a"), None);
        }
        let before = log.newest();
        // A later moment: the clock that both read has gone on by then.
        while now() * PER_MILLISECOND <= before {}
        assert!(Log::new().newest() > before);
        assert!(before < 1 << 53);
    }

    #[test]
    fn whoever_reads_what_was_cleared_has_missed_something() {
        let mut log = Log::new();
        log.push(text("a"), None);
        let newest = log.newest();
        log.clear();
        assert!(matches!(log.after(newest, 1), Read::Gap));
        assert!(matches!(log.after(log.newest(), 1), Read::Nothing));
    }
}
