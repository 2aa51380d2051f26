//! Messages of long requests, kept so that a client whose connection broke can read on where it stopped.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolwright_core::CancellationToken;

use crate::access::Reach;

/// How many streams of a session are kept, and how many messages of each.
const MOST_STREAMS: usize = 32;
const MOST_EVENTS: usize = 1024;

/// The streams of one session.
#[derive(Default)]
pub(crate) struct Streams {
    kept: Mutex<VecDeque<Arc<Stream>>>,
    next: AtomicU64,
    /// Ends the stream that belongs to no request: there is one at a time.
    standing: Mutex<Option<CancellationToken>>,
}

/// The messages of one request.
pub(crate) struct Stream {
    number: u64,
    /// What whoever asked could reach; none where everything is open.
    reach: Option<Arc<Reach>>,
    held: Mutex<Held>,
    changed: Notify,
}

#[derive(Default)]
struct Held {
    events: VecDeque<Arc<str>>,
    /// How many events were dropped at the front.
    dropped: usize,
    ended: bool,
}

impl Streams {
    pub(crate) fn open(&self, reach: Option<Arc<Reach>>) -> Arc<Stream> {
        let stream = Arc::new(Stream {
            number: self.next.fetch_add(1, Ordering::Relaxed),
            reach,
            held: Mutex::default(),
            changed: Notify::new(),
        });
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_STREAMS {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(&stream));
        stream
    }

    /// Finds the stream of an event, and the place after it, for whoever reaches as much as the one who asked.
    pub(crate) fn after(&self, event: &str, reach: &Reach) -> Option<(Arc<Stream>, usize)> {
        let (number, place) = event.split_once('-')?;
        let (number, place): (u64, usize) = (number.parse().ok()?, place.parse().ok()?);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = kept.iter().find(|stream| stream.number == number)?;
        let hidden = stream
            .reach
            .as_ref()
            .is_some_and(|theirs| !reach.covers(theirs));
        if hidden {
            return None;
        }
        // The first event of every stream is numbered 0 and has no message.
        Some((Arc::clone(stream), place))
    }

    /// Takes the place of whoever reads the stream that belongs to no request.
    pub(crate) fn stand(&self, token: CancellationToken) {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = standing.replace(token) {
            before.cancel();
        }
    }
}

impl Stream {
    pub(crate) fn push(&self, message: &str) {
        let mut held = self.held();
        if held.events.len() >= MOST_EVENTS {
            held.events.pop_front();
            held.dropped += 1;
        }
        held.events.push_back(message.into());
        drop(held);
        self.changed.notify_waiters();
    }

    pub(crate) fn end(&self) {
        self.held().ended = true;
        self.changed.notify_waiters();
    }

    /// Names the event at this place.
    pub(crate) fn event_id(&self, place: usize) -> String {
        format!("{}-{place}", self.number)
    }

    /// Waits for the message at this place or, if it is gone, the oldest there is; `None` at the end.
    pub(crate) async fn at(&self, place: usize) -> Option<(usize, Arc<str>)> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let held = self.held();
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

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
