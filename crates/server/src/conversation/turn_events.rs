//! The events of a running turn, and operations that take place beside it.

use std::collections::VecDeque;

use toolwright_chat::{ChatError, ChatEvent, ChatStream, Response};

/// The events of a running turn.
pub(super) struct TurnEvents {
    stream: ChatStream,
    /// Events that arrived during an operation.
    ready: VecDeque<Result<ChatEvent, ChatError>>,
    is_over: bool,
}

impl TurnEvents {
    pub(super) fn new(stream: ChatStream) -> Self {
        Self { stream, ready: VecDeque::new(), is_over: false }
    }

    /// Returns the next event; `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<Result<ChatEvent, ChatError>> {
        match self.ready.pop_front() {
            None if !self.is_over => self.stream.next().await,
            event => event,
        }
    }

    /// Waits for an operation while the turn goes on.
    ///
    /// A turn runs only while its stream is polled, and may hold a connection to the store that the operation needs.
    pub(super) fn run_beside<T>(
        &mut self,
        operation: impl Future<Output = T> + Send,
    ) -> impl Future<Output = T> + Send {
        // Boxed before the future is made, which has no room for it then: operations are rare.
        let mut operation = Box::pin(operation);
        async move {
            loop {
                tokio::select! {
                    biased;
                    output = &mut operation => return output,
                    event = self.stream.next(), if !self.is_over => match event {
                        Some(event) => self.ready.push_back(event),
                        None => self.is_over = true,
                    },
                }
            }
        }
    }

    /// Returns the response of a turn that is over.
    pub(super) fn into_response(self) -> Option<Response> {
        self.stream.into_response()
    }
}
