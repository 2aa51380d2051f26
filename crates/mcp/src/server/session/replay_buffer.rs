//! Messages of long requests, kept so that a client whose connection broke can read on where it stopped.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolwright_core::CancellationToken;

use toolwright_auth::ScopedTools;

/// How many streams of a session are kept, and how many messages of each.
const MAX_BUFFERS: usize = 32;
const MAX_EVENTS: usize = 1024;

/// The streams of one session.
#[derive(Default)]
pub(crate) struct ReplayBuffers {
    buffers: Mutex<VecDeque<Arc<ReplayBuffer>>>,
    next_number: AtomicU64,
    /// Ends the stream that belongs to no request: there is one at a time.
    standalone: Mutex<Option<CancellationToken>>,
}

/// The messages of one request.
pub(crate) struct ReplayBuffer {
    number: u64,
    /// What whoever asked could reach; none where everything is open.
    scoped_tools: Option<Arc<ScopedTools>>,
    state: Mutex<BufferState>,
    changed: Notify,
}

#[derive(Default)]
struct BufferState {
    events: VecDeque<Arc<str>>,
    /// How many events were dropped at the front.
    dropped: usize,
    ended: bool,
}

impl ReplayBuffers {
    pub(crate) fn create(&self, reach: Option<Arc<ScopedTools>>) -> Arc<ReplayBuffer> {
        let stream = Arc::new(ReplayBuffer {
            number: self.next_number.fetch_add(1, Ordering::Relaxed),
            scoped_tools: reach,
            state: Mutex::default(),
            changed: Notify::new(),
        });
        let mut kept = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_BUFFERS {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(&stream));
        stream
    }

    /// Finds the stream of an event, and the place after it, for whoever reaches as much as the one who asked.
    pub(crate) fn resume_after(
        &self,
        event: &str,
        reach: &ScopedTools,
    ) -> Option<(Arc<ReplayBuffer>, usize)> {
        let (number, place) = event.split_once('-')?;
        let (number, place): (u64, usize) = (number.parse().ok()?, place.parse().ok()?);
        let kept = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = kept.iter().find(|stream| stream.number == number)?;
        let hidden = stream
            .scoped_tools
            .as_ref()
            .is_some_and(|theirs| !reach.is_superset_of(theirs));
        if hidden {
            return None;
        }
        // The first event of every stream is numbered 0 and has no message.
        Some((Arc::clone(stream), place))
    }

    /// Takes the place of whoever reads the stream that belongs to no request.
    pub(crate) fn replace_standalone(&self, token: CancellationToken) {
        let mut standing = self
            .standalone
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = standing.replace(token) {
            before.cancel();
        }
    }
}

impl ReplayBuffer {
    pub(crate) fn push(&self, message: &str) {
        let mut held = self.state();
        if held.events.len() >= MAX_EVENTS {
            held.events.pop_front();
            held.dropped += 1;
        }
        held.events.push_back(message.into());
        drop(held);
        self.changed.notify_waiters();
    }

    pub(crate) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_waiters();
    }

    /// Names the event at this place.
    pub(crate) fn event_id(&self, place: usize) -> String {
        format!("{}-{place}", self.number)
    }

    /// Waits for the message at this place or, if it is gone, the oldest there is; `None` at the end.
    pub(crate) async fn next_from(&self, place: usize) -> Option<(usize, Arc<str>)> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let held = self.state();
                let place = place.max(held.dropped);
                if let Some(event) = held.events.get(place - held.dropped) {
                    return Some((place, Arc::clone(event)));
                }
                if held.ended {
                    return None;
                }
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, BufferState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
