//! Buffers of sent events, from which a client whose connection broke resumes a stream.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use toolwright_auth::ScopedTools;
use toolwright_core::CancellationToken;

use super::event_id::{EventId, StreamOrigin};
use crate::lock::lock;
use crate::server::cluster::EventPage;

/// The limits of one session and of one stream; beyond them, the oldest are dropped.
const MAX_BUFFERS: usize = 32;
const MAX_EVENTS: usize = 1024;
/// The limits of one page of events; an event that is larger is alone on its page.
const MAX_PAGE_EVENTS: usize = 64;
const MAX_PAGE_BYTES: usize = 64 << 10;

/// The buffers of one session.
#[derive(Default)]
pub(crate) struct ReplayBuffers {
    buffers: Mutex<VecDeque<Arc<ReplayBuffer>>>,
    next_number: AtomicU64,
    /// Ends the stream of notifications that belongs to no request; there is one at a time.
    standalone: Mutex<Option<CancellationToken>>,
}

/// The events of one response stream.
pub(crate) struct ReplayBuffer {
    number: u64,
    origin: Option<StreamOrigin>,
    /// The tools of the principal that began the stream.
    scoped_tools: Option<Arc<ScopedTools>>,
    state: Mutex<BufferState>,
    changed: Notify,
}

#[derive(Default)]
struct BufferState {
    events: VecDeque<Arc<str>>,
    /// The number of events dropped at the front.
    dropped: usize,
    ended: bool,
}

impl ReplayBuffers {
    pub(crate) fn create(
        &self,
        scoped_tools: Option<Arc<ScopedTools>>,
        origin: Option<StreamOrigin>,
    ) -> Arc<ReplayBuffer> {
        let buffer = Arc::new(ReplayBuffer {
            number: self.next_number.fetch_add(1, Ordering::Relaxed),
            origin,
            scoped_tools,
            state: Mutex::default(),
            changed: Notify::new(),
        });
        let mut buffers = lock(&self.buffers);
        if buffers.len() >= MAX_BUFFERS {
            buffers.pop_front();
        }
        buffers.push_back(Arc::clone(&buffer));
        buffer
    }

    /// Finds the buffer of a stream for a reader with these scopes, or with all tools if there are none.
    ///
    /// Returns `None` if the reader may use fewer tools than the principal of the stream.
    pub(crate) fn find(
        &self,
        stream: u64,
        scopes: Option<&BTreeSet<String>>,
    ) -> Option<Arc<ReplayBuffer>> {
        let buffers = lock(&self.buffers);
        let buffer = buffers.iter().find(|buffer| buffer.number == stream)?;
        let is_visible = match &buffer.scoped_tools {
            Some(required) => covers_scopes(scopes, required.scopes()),
            None => true,
        };
        is_visible.then(|| Arc::clone(buffer))
    }

    /// Ends the previous stream that belongs to no request.
    pub(crate) fn replace_standalone(&self, token: CancellationToken) {
        let previous = lock(&self.standalone).replace(token);
        if let Some(previous) = previous {
            previous.cancel();
        }
    }

    /// Ends the stream that belongs to no request.
    pub(crate) fn end_standalone(&self) {
        if let Some(token) = lock(&self.standalone).take() {
            token.cancel();
        }
    }
}

/// Returns true if scopes grant all tools that `required` grant; `None` is all tools.
pub(crate) fn covers_scopes(
    scopes: Option<&BTreeSet<String>>,
    required: Option<&BTreeSet<String>>,
) -> bool {
    match (scopes, required) {
        (Some(scopes), Some(required)) => scopes.is_superset(required),
        (scopes, _) => scopes.is_none(),
    }
}

impl ReplayBuffer {
    pub(crate) fn push(&self, message: &str) {
        let mut state = lock(&self.state);
        if state.events.len() >= MAX_EVENTS {
            state.events.pop_front();
            state.dropped += 1;
        }
        state.events.push_back(message.into());
        drop(state);
        self.changed.notify_waiters();
    }

    pub(crate) fn end(&self) {
        lock(&self.state).ended = true;
        self.changed.notify_waiters();
    }

    /// Returns the id of the event after which the message at this index is the next one.
    pub(crate) fn event_id(&self, index: usize) -> String {
        let origin = self.origin.clone();
        EventId { stream: self.number, position: index, origin }.to_string()
    }

    /// Returns the messages from an index on, or from the oldest one if it was dropped, without waiting.
    pub(crate) fn page_from(&self, index: usize) -> EventPage {
        let state = lock(&self.state);
        let first = index.max(state.dropped);
        let mut bytes = 0;
        let events = state.events.iter().skip(first - state.dropped).take(MAX_PAGE_EVENTS);
        let events: Vec<String> = events
            .take_while(|event| {
                let is_first = bytes == 0;
                bytes += event.len();
                is_first || bytes <= MAX_PAGE_BYTES
            })
            .map(|event| event.to_string())
            .collect();
        let is_last = first - state.dropped + events.len() >= state.events.len();
        EventPage { first, ended: state.ended && is_last, events }
    }

    /// Waits for the message at this index or, if it was dropped, returns the oldest one; `None` at the end.
    pub(crate) async fn next_from(&self, index: usize) -> Option<(usize, Arc<str>)> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let state = lock(&self.state);
                let index = index.max(state.dropped);
                if let Some(event) = state.events.get(index - state.dropped) {
                    return Some((index, Arc::clone(event)));
                }
                if state.ended {
                    return None;
                }
            }
            changed.await;
        }
    }
}
