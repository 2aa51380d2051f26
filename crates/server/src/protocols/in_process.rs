//! A conversation without a network: for programs that embed a server, and for tests.

use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt as _};
use toolwright_chat::Owner;

use crate::auth::request_context::RequestContext;
use crate::conversation::event::SequencedEvent;
use crate::conversation::room_command::{CommandKind, IncomingMessage, RoomCommand};
use crate::conversation::subscriber::{Delivery, Subscriber};
use crate::conversation::turn_error::TurnError;
use crate::server::Server;

impl Server {
    /// Says something in a conversation, named by the path that a client would use, and streams what happens until the turn
    /// is over or waits.
    ///
    /// The turn runs whether or not the stream is read.
    ///
    /// # Errors
    ///
    /// When no endpoint has conversations at that path, or too much is said at once.
    pub fn send_message(
        &self,
        path: &str,
        message: impl Into<IncomingMessage>,
    ) -> Result<BoxStream<'static, Arc<SequencedEvent>>, TurnError> {
        let found = self.endpoints.iter().find_map(|endpoint| {
            let params = endpoint.template.match_path(path)?;
            Some((endpoint, params))
        });
        let (endpoint, params) = found.ok_or_else(|| {
            TurnError::new(
                "unknown",
                format!("no endpoint has conversations at `{path}`"),
            )
        })?;
        let rejected = |error: crate::http::error_response::ErrorResponse| {
            TurnError::new("refused", error.message())
        };
        let room = endpoint
            .open_room(params, &Owner::Operator)
            .map_err(rejected)?;
        let mut command = RoomCommand::new(
            CommandKind::Message(message.into()),
            RequestContext::operator(&self.state),
            None,
        );
        let started = command.started_receiver();
        let busy = |_| {
            TurnError::new(
                "busy",
                "too many prompts wait for this conversation already",
            )
        };
        room.enqueue(command).map_err(busy)?;
        let begun = async move {
            let after = started.await.ok()?.ok()?;
            Some(Subscriber::new(room, Some(after), None))
        };
        let events = stream::once(begun).filter_map(async |subscriber| subscriber);
        let events = events.flat_map(|subscriber| {
            stream::unfold(Some(subscriber), async |subscriber| {
                let mut subscriber = subscriber?;
                match subscriber.next().await? {
                    Delivery::Event(event) => {
                        let over = event.event.ends_or_pauses_turn();
                        Some((event, (!over).then_some(subscriber)))
                    }
                    Delivery::Snapshot(_) | Delivery::Shutdown => None,
                }
            })
        });
        Ok(events.boxed())
    }
}
