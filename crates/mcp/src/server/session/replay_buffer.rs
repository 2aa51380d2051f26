//! Buffers of sent events, from which a client whose connection broke resumes a stream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use toolwright_core::CancellationToken;

use crate::lock::lock;

use toolwright_auth::ScopedTools;

/// The limits of one session and of one stream; beyond them, the oldest are dropped.
const MAX_BUFFERS: usize = 32;
const MAX_EVENTS: usize = 1024;

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
    pub(crate) fn create(&self, scoped_tools: Option<Arc<ScopedTools>>) -> Arc<ReplayBuffer> {
        let buffer = Arc::new(ReplayBuffer {
            number: self.next_number.fetch_add(1, Ordering::Relaxed),
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

    /// Finds the buffer of an event and the index after it; `None` if `tools` are fewer than those of the stream's principal.
    pub(crate) fn resume_after(
        &self,
        event: &str,
        tools: &ScopedTools,
    ) -> Option<(Arc<ReplayBuffer>, usize)> {
        let (number, index) = event.split_once('-')?;
        let (number, index): (u64, usize) = (number.parse().ok()?, index.parse().ok()?);
        let buffers = lock(&self.buffers);
        let buffer = buffers.iter().find(|buffer| buffer.number == number)?;
        let is_hidden =
            buffer.scoped_tools.as_ref().is_some_and(|required| !tools.is_superset_of(required));
        if is_hidden {
            return None;
        }
        // Event 0 of every stream has no message, so the number of an event is the index of the next message.
        Some((Arc::clone(buffer), index))
    }

    /// Ends the previous stream that belongs to no request.
    pub(crate) fn replace_standalone(&self, token: CancellationToken) {
        let mut standalone = lock(&self.standalone);
        if let Some(previous) = standalone.replace(token) {
            previous.cancel();
        }
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

    pub(crate) fn event_id(&self, index: usize) -> String {
        format!("{}-{index}", self.number)
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
