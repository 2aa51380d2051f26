//! A conversation without a network: for programs that embed a server, and for tests.

use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt as _};
use toolwright_chat::Owner;

use crate::event::Numbered;
use crate::guest::Guest;
use crate::job::{Job, Message, Task};
use crate::reader::{Line, Reader};
use crate::server::Site;
use crate::trouble::Trouble;

impl Site {
    /// Says something in a conversation, named by the path that a client would use, and streams what happens until the turn
    /// is over or waits.
    ///
    /// The turn runs whether or not the stream is read.
    ///
    /// # Errors
    ///
    /// When no endpoint has conversations at that path, or too much is said at once.
    pub fn talk(
        &self,
        path: &str,
        message: impl Into<Message>,
    ) -> Result<BoxStream<'static, Arc<Numbered>>, Trouble> {
        let found = self.lives.iter().find_map(|live| {
            let params = live.template.values(path)?;
            Some((live, params))
        });
        let (live, params) = found.ok_or_else(|| {
            Trouble::new(
                "unknown",
                format!("no endpoint has conversations at `{path}`"),
            )
        })?;
        let refused = |problem: crate::problem::Problem| Trouble::new("refused", problem.message());
        let room = live.room(params, &Owner::Operator).map_err(refused)?;
        let mut job = Job::new(
            Task::Prompt(message.into()),
            Guest::operator(&self.app),
            None,
        );
        let taken = job.wait();
        let busy = |_| {
            Trouble::new(
                "busy",
                "too many prompts wait for this conversation already",
            )
        };
        room.submit(job).map_err(busy)?;
        let begun = async move {
            let after = taken.await.ok()?.ok()?;
            Some(Reader::new(room, Some(after), None))
        };
        let events = stream::once(begun).filter_map(async |reader| reader);
        let events = events.flat_map(|reader| {
            stream::unfold(Some(reader), async |reader| {
                let mut reader = reader?;
                match reader.next().await? {
                    Line::Event(event) => {
                        let over = event.event.is_last();
                        Some((event, (!over).then_some(reader)))
                    }
                    Line::Snapshot(_) | Line::Goodbye => None,
                }
            })
        });
        Ok(events.boxed())
    }
}
