//! Somebody joins a conversation and leaves it: who takes part, and what the endpoint's author wants to happen then.

use std::sync::Arc;

use toolwright_core::CancellationToken;

use crate::event::{Notice, PeerId};
use crate::guest::Guest;
use crate::handler::Erased;
use crate::job::Message;
use crate::room::Room;
use crate::session::Session;

/// Somebody's time in a conversation; it ends when it is dropped.
pub(crate) struct Visit {
    session: Session,
    room: Arc<Room>,
}

impl Visit {
    /// Somebody joins.
    pub(crate) fn begin(room: &Arc<Room>, guest: Guest, peer: Option<PeerId>) -> Self {
        let visit = Self {
            session: Session::new(room, guest, peer, CancellationToken::new()),
            room: Arc::clone(room),
        };
        visit.count(room.join());
        visit.call(room.live.on_ready.as_ref());
        visit
    }

    /// Tells the others, where people meet.
    fn count(&self, count: usize) {
        if self.room.live.is_shared() {
            self.room.tell(Notice::Peers { count }, None);
        }
    }

    fn call(&self, handler: Option<&Erased>) {
        let Some(handler) = handler else { return };
        let running = handler(&self.session, &Message::silence());
        let room = Arc::clone(&self.room);
        self.room.live.app.turns.spawn(async move {
            if let Err(trouble) = running.await {
                tracing::warn!(conversation = room.id, "a handler failed: {trouble}");
            }
        });
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.count(self.room.leave());
        self.call(self.room.live.on_disconnect.as_ref());
    }
}
