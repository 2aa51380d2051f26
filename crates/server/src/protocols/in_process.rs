//! Sends messages without a network: for programs that embed a server, and for tests.

use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt as _};
use toolwright_chat::Owner;
use toolwright_conversation::{ConversationError, SequencedEvent};

use crate::auth::request_context::RequestContext;
use crate::conversation::room_command::{CommandKind, IncomingMessage, RoomCommand};
use crate::conversation::subscriber::{Delivery, Subscriber};
use crate::server::Server;

impl Server {
    /// Sends a message to the conversation at the path that a client would use, and streams its events until the turn ends
    /// or pauses.
    ///
    /// The turn runs even if the stream is not read. A handler that sends it in its own turn and waits for it does not wait for
    /// one of [`max_turns`](crate::ServerLimits::max_turns); sent to its own conversation, the message waits until it returns.
    ///
    /// # Errors
    ///
    /// When no endpoint matches the path, the server could not store or answer the message, or the queue of the conversation
    /// is full.
    pub async fn send_message(
        &self,
        path: &str,
        message: impl Into<IncomingMessage>,
    ) -> Result<BoxStream<'static, Arc<SequencedEvent>>, ConversationError> {
        let found = self.endpoints.iter().find_map(|endpoint| {
            let params = endpoint.template.match_path(path)?;
            Some((endpoint, params))
        });
        let (endpoint, params) =
            found.ok_or_else(|| ConversationError::NoEndpoint { path: path.to_owned() })?;
        let room = endpoint.open_room(params, &Owner::Operator)?;
        let mut command = RoomCommand::new(
            CommandKind::Message(message.into()),
            RequestContext::operator(&endpoint.auth),
            None,
        );
        let started = command.started_receiver();
        room.admit(command).await?;
        let subscriber = async move {
            let after = started.await.ok()?.ok()?;
            Some(Subscriber::new(room, Some(after), None))
        };
        let events = stream::once(subscriber).filter_map(async |subscriber| subscriber);
        let events = events.flat_map(|subscriber| {
            stream::unfold(Some(subscriber), async |subscriber| {
                let mut subscriber = subscriber?;
                match subscriber.next().await? {
                    Delivery::Event(event) => {
                        let last = event.body.ends_or_pauses_turn();
                        let event = Arc::new(event.to_sequenced());
                        Some((event, (!last).then_some(subscriber)))
                    }
                    Delivery::Snapshot(_) | Delivery::Shutdown => None,
                }
            })
        });
        Ok(events.boxed())
    }
}
