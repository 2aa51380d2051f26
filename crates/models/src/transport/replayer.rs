//! A recording in, a transport out that answers from it and from nothing else.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::{self, BoxFuture};
use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;
use toolwright_chat::{ModelError, ModelErrorKind};

use super::json_diff::first_difference;
use super::recording::{Exchange, Recording};
use super::redactor::Redactor;
use super::{Transport, WireRequest, WireResponse};

/// Answers requests from a recording, in its order; clones share it.
///
/// A request must be the recorded one: the same path and the same JSON, the order of keys aside, and any text where the
/// recording says `***`. Another request, and one more than was recorded, fails with [`ModelErrorKind::Forbidden`] and says
/// where it differs. Waits that the vendor once asked for are not waited for again.
///
/// [`Recorder`](crate::Recorder) shows how a recording is made.
#[derive(Clone, Debug)]
pub struct Replayer {
    remaining: Arc<Mutex<VecDeque<Exchange>>>,
    total: usize,
    redactor: Redactor,
}

impl Replayer {
    /// Answers from a recording.
    pub fn new(recording: Recording) -> Self {
        Self {
            total: recording.len(),
            remaining: Arc::new(Mutex::new(recording.exchanges.into())),
            redactor: Redactor::default(),
        }
    }

    /// Answers from a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no recording.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Recording::load(path).map(Self::new)
    }

    /// Changes every text of a request before it is compared, as [`Recorder::scrub`](crate::Recorder::scrub) did.
    #[must_use]
    pub fn redact_with(mut self, scrub: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.redactor.set_custom(scrub);
        self
    }

    /// How many exchanges have not been asked for yet.
    pub fn remaining(&self) -> usize {
        let left = self
            .remaining
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        left.len()
    }

    fn respond(&self, request: &WireRequest) -> Result<WireResponse, ModelError> {
        let mut left = self
            .remaining
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let place = self.total.saturating_sub(left.len()) + 1;
        let Some(exchange) = left.front() else {
            let message = format!(
                "the recording has {} requests, and this is one more: record it again",
                self.total
            );
            return Err(ModelError::new(ModelErrorKind::Forbidden, message));
        };
        if let Some(differs) = self.difference_from(exchange, request) {
            let message = format!(
                "request {place} is not the recorded one {differs}; record it again if it is right"
            );
            return Err(ModelError::new(ModelErrorKind::Forbidden, message));
        }
        let pieces = exchange.response.body_chunks().map_err(|error| {
            let message = format!("answer {place} of the recording cannot be read");
            ModelError::new(ModelErrorKind::Protocol, message).with_source(error)
        })?;
        let cut = exchange.response.cut.then(|| {
            let message = "the answer was cut off, and so is its recording";
            Err(ModelError::new(ModelErrorKind::Network, message))
        });
        let pieces = pieces.into_iter().map(Ok::<Bytes, ModelError>).chain(cut);
        let mut response = WireResponse::streamed(
            exchange.response.status,
            stream::iter(pieces.collect::<Vec<_>>()).boxed(),
        );
        for (name, value) in &exchange.response.headers {
            // Nobody has to wait for a vendor that is not there.
            let waits = name.starts_with("retry-after");
            response = response.with_header(name, if waits { "0" } else { value });
        }
        left.pop_front();
        Ok(response)
    }

    fn difference_from(&self, exchange: &Exchange, request: &WireRequest) -> Option<String> {
        let mut scrub = self.redactor.clone();
        scrub.collect_secrets(request);
        let recorded = &exchange.request;
        let path = scrub.redacted_path(&request.url);
        if path != recorded.path {
            return Some(format!(
                "in its path: recorded `{}`, sent `{path}`",
                recorded.path
            ));
        }
        let text = || Value::String(request.body.to_string());
        let mut body = serde_json::from_str(&request.body).unwrap_or_else(|_| text());
        scrub.redact_json(&mut body);
        first_difference(&recorded.body, &body)
    }
}

impl Transport for Replayer {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        future::ready(self.respond(&request)).boxed()
    }
}
