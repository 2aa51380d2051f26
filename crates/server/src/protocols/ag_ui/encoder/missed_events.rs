//! A run whose events are missing at this node: the messages of the thread replace them, and the run goes on to its end.

use serde_json::json;
use toolwright_chat::{Entry, EntryBody, Turn};
use toolwright_conversation::EndpointEvent;
use toolwright_conversation::logged_event::TextKind;

use super::AgUiEncoder;
use crate::conversation::room::ConversationSnapshot;
use crate::protocols::ag_ui::thread::thread_messages;
use crate::protocols::{EventEncoder as _, Messages};

impl AgUiEncoder {
    /// Continues the run from a snapshot; returns true if the run has ended in it.
    pub(super) fn continue_from(
        &mut self,
        snapshot: &ConversationSnapshot,
        out: &mut Messages,
    ) -> bool {
        let entries = &*snapshot.entries;
        let began = self.first_entry(entries);
        if began.is_none() && !snapshot.events_follow {
            if !snapshot.is_attended {
                // Nothing is left of it, as of a conversation that is not kept.
                self.on_endpoint_event(&EndpointEvent::turn_lost(), out);
            }
            // Its events follow, or another snapshot.
            return !snapshot.is_attended;
        }
        self.end_step(out);
        out.push(json!({ "type": "MESSAGES_SNAPSHOT", "messages": thread_messages(entries) }));
        self.echo_messages = true;
        self.pending_approvals.0.clone_from(&snapshot.pending);
        if snapshot.events_follow {
            return false;
        }
        let is_end = |entry: &Entry| matches!(entry.body, EntryBody::TurnEnded { .. });
        let mut rest = entries.iter().enumerate().skip(began.unwrap_or_default());
        if let Some((at, Entry { body: EntryBody::TurnEnded { end }, .. })) =
            rest.find(|(_, entry)| is_end(entry))
        {
            let mut turn = Turn::default();
            entries.iter().take(at + 1).for_each(|entry| turn.apply(entry));
            self.finish_ended_run(end, turn.usage(), turn.cost(), out);
            return true;
        }
        if !snapshot.pending.is_empty() {
            self.finish_paused_run(out);
            return true;
        }
        if let Some(partial) = &snapshot.partial {
            self.write_text(TextKind::Reasoning, &partial.reasoning, out);
            self.write_text(TextKind::Text, &partial.text, out);
        }
        false
    }

    /// The index of the first entry that is part of the run; `None` if the journal has none yet.
    fn first_entry(&self, entries: &[Entry]) -> Option<usize> {
        match &self.item {
            Some(item) => entries.iter().position(|entry| entry.id == *item),
            None => entries.iter().rposition(Entry::is_message),
        }
    }
}
