//! The presence of a connected client in a conversation: the number of peers, and the handlers `on_ready` and
//! `on_disconnect`.

use std::sync::Arc;

use toolwright_core::CancellationToken;

use crate::auth::request_context::RequestContext;
use crate::conversation::event::{EndpointEvent, PeerId};
use crate::conversation::room::Room;
use crate::conversation::room_command::IncomingMessage;
use crate::conversation::session::Session;
use crate::endpoint::handler::ErasedHandler;

/// A connected client; dropping it disconnects.
pub(crate) struct Presence {
    session: Session,
    room: Arc<Room>,
}

impl Presence {
    /// Connects a client.
    pub(crate) fn join(room: &Arc<Room>, context: RequestContext, peer: Option<PeerId>) -> Self {
        let presence = Self {
            session: Session::new(room, context, peer, CancellationToken::new()),
            room: Arc::clone(room),
        };
        presence.publish_peer_count(room.add_peer());
        presence.call_handler(room.endpoint.on_ready.as_ref());
        presence
    }

    /// Publishes the number of clients, where several principals share a conversation.
    fn publish_peer_count(&self, count: usize) {
        if self.room.endpoint.is_shared() {
            self.room.publish(EndpointEvent::Peers { count }, None);
        }
    }

    fn call_handler(&self, handler: Option<&ErasedHandler>) {
        let Some(handler) = handler else { return };
        let running = handler(&self.session, &IncomingMessage::empty());
        let room = Arc::clone(&self.room);
        self.room.endpoint.server.running_turns.spawn(async move {
            if let Err(error) = running.await {
                tracing::warn!(conversation = room.id, "a handler failed: {error}");
            }
        });
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.publish_peer_count(self.room.remove_peer());
        self.call_handler(self.room.endpoint.on_disconnect.as_ref());
    }
}
