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
        let found = self.endpoints.iter().find_map(|live| {
            let params = live.template.match_path(path)?;
            Some((live, params))
        });
        let (live, params) = found.ok_or_else(|| {
            TurnError::new(
                "unknown",
                format!("no endpoint has conversations at `{path}`"),
            )
        })?;
        let refused = |problem: crate::http::error_response::ErrorResponse| {
            TurnError::new("refused", problem.message())
        };
        let room = live.open_room(params, &Owner::Operator).map_err(refused)?;
        let mut job = RoomCommand::new(
            CommandKind::Message(message.into()),
            RequestContext::operator(&self.state),
            None,
        );
        let taken = job.started_receiver();
        let busy = |_| {
            TurnError::new(
                "busy",
                "too many prompts wait for this conversation already",
            )
        };
        room.enqueue(job).map_err(busy)?;
        let begun = async move {
            let after = taken.await.ok()?.ok()?;
            Some(Subscriber::new(room, Some(after), None))
        };
        let events = stream::once(begun).filter_map(async |reader| reader);
        let events = events.flat_map(|reader| {
            stream::unfold(Some(reader), async |reader| {
                let mut reader = reader?;
                match reader.next().await? {
                    Delivery::Event(event) => {
                        let over = event.event.ends_or_pauses_turn();
                        Some((event, (!over).then_some(reader)))
                    }
                    Delivery::Snapshot(_) | Delivery::Shutdown => None,
                }
            })
        });
        Ok(events.boxed())
    }
}
