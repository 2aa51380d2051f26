//! The presence of a connected client in a conversation: the number of peers and their names, and the handlers `on_ready` and
//! `on_disconnect`.

use std::sync::Arc;

use toolwright_conversation::PeerId;
use toolwright_conversation::participant::Participant;
use toolwright_core::CancellationToken;

use crate::auth::request_context::RequestContext;
use crate::conversation::room::Room;
use crate::conversation::room_command::IncomingMessage;
use crate::conversation::session::Session;
use crate::endpoint::handler::ErasedHandler;

/// The person of a request; `None` for the operator, who has no name.
fn participant_of(context: &RequestContext) -> Option<Participant> {
    let (name, subject) = (context.visible_name()?.to_owned(), context.subject()?.to_owned());
    Some(Participant { name, subject })
}

/// A connected client; dropping it disconnects.
pub(crate) struct Presence {
    session: Session,
    participant: Option<Participant>,
    room: Arc<Room>,
}

impl Presence {
    /// Connects a client.
    pub(crate) fn join(room: &Arc<Room>, context: RequestContext, peer: Option<PeerId>) -> Self {
        let presence = Self {
            participant: participant_of(&context),
            session: Session::new(
                room,
                context,
                peer,
                room.log.publisher(),
                CancellationToken::new(),
            ),
            room: Arc::clone(room),
        };
        room.peers.add(presence.participant.as_ref());
        presence.call_handler(room.endpoint.on_ready.as_ref());
        presence
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
        self.room.peers.remove(self.participant.as_ref());
        self.call_handler(self.room.endpoint.on_disconnect.as_ref());
    }
}
