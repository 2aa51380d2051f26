//! A transport that responds from a recording.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::future::{self, BoxFuture};
use futures::{FutureExt as _, StreamExt as _, stream};
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_models::{Transport, WireRequest, WireResponse};

use super::json_diff::first_difference;
use super::recording::{Exchange, Recording};
use super::redactor::Redactor;

/// Responds to requests from a recording, in its order; clones share the position.
///
/// A request must match the recorded one: the same path and the same JSON, except for the order of keys, and any text where
/// the recording has `***`. A request that does not match, or exceeds the recording, fails with [`ModelErrorKind::Forbidden`]
/// and a message that has the first difference. `retry-after` is replayed as 0.
///
/// See [`Recorder`](crate::Recorder) for how to make a recording.
#[derive(Clone, Debug)]
pub struct Replayer {
    remaining: Arc<Mutex<VecDeque<Exchange>>>,
    total: usize,
    redactor: Redactor,
}

impl Replayer {
    /// Responds from a recording.
    pub fn new(recording: Recording) -> Self {
        Self {
            total: recording.len(),
            remaining: Arc::new(Mutex::new(recording.exchanges.into())),
            redactor: Redactor::default(),
        }
    }

    /// Responds from the recording in a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a recording.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Recording::load(path).map(Self::new)
    }

    /// Applies a function to every text of a request before it is compared, as
    /// [`Recorder::redact_with`](crate::Recorder::redact_with) does.
    #[must_use]
    pub fn redact_with(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.redactor.set_custom(redact);
        self
    }

    /// The number of exchanges that have not been replayed yet.
    pub fn remaining(&self) -> usize {
        self.lock_remaining().len()
    }

    fn lock_remaining(&self) -> MutexGuard<'_, VecDeque<Exchange>> {
        self.remaining.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn respond(&self, request: &WireRequest) -> Result<WireResponse, ModelError> {
        let mut remaining = self.lock_remaining();
        let number = self.total.saturating_sub(remaining.len()) + 1;
        let Some(exchange) = remaining.front() else {
            let message = format!(
                "the recording has {} requests, and this is one more: record it again",
                self.total
            );
            return Err(ModelError::new(ModelErrorKind::Forbidden, message));
        };
        if let Some(difference) = self.difference_from(exchange, request) {
            let message = format!(
                "request {number} is not the recorded one {difference}; record it again if it is right"
            );
            return Err(ModelError::new(ModelErrorKind::Forbidden, message));
        }
        let chunks = exchange.response.body_chunks().map_err(|error| {
            let message = format!("answer {number} of the recording cannot be read");
            ModelError::new(ModelErrorKind::Protocol, message).with_source(error)
        })?;
        let cut = exchange.response.cut.then(|| {
            let message = "the answer was cut off, and so is its recording";
            Err(ModelError::new(ModelErrorKind::Network, message))
        });
        let chunks = chunks.into_iter().map(Ok::<Bytes, ModelError>).chain(cut);
        let mut response = WireResponse::streamed(
            exchange.response.status,
            stream::iter(chunks.collect::<Vec<_>>()).boxed(),
        );
        for (name, value) in &exchange.response.headers {
            // A recording needs no delay between retries.
            let is_delay = name.starts_with("retry-after");
            response = response.with_header(name, if is_delay { "0" } else { value });
        }
        remaining.pop_front();
        Ok(response)
    }

    fn difference_from(&self, exchange: &Exchange, request: &WireRequest) -> Option<String> {
        let recorded = &exchange.request;
        let sent = self.redactor.clone().record_request(request);
        let differs =
            |part, old, new| Some(format!("in its {part}: recorded `{old}`, sent `{new}`"));
        if sent.method != recorded.method {
            return differs("method", &recorded.method, &sent.method);
        }
        if sent.path != recorded.path {
            return differs("path", &recorded.path, &sent.path);
        }
        first_difference(&recorded.body, &sent.body)
    }
}

impl Transport for Replayer {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        future::ready(self.respond(&request)).boxed()
    }
}
