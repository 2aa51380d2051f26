//! A request that is sent, and its answer that is being read: events out, one after the other.
//!
//! A request is made again only as long as nothing has been told: what the model said cannot be unsaid.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use tokio::time::{Duration, sleep, timeout};
use toolwright_chat::{ItemKind, ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use toolwright_core::wire::Plan;

use super::Shared;
use super::body::{Body, Read};
use super::wait::{Waits, retry_after};
use crate::bounds::{LONGEST_REFUSAL, MOST_CALLS, MOST_ITEMS, too_many_calls, too_many_items};
use crate::excerpt::{excerpt, without_last_word};
use crate::json::whole_letters;
use crate::protocol::{Protocol, Reader};
use crate::transport::{WireRequest, WireResponse};

/// So many pieces, and so long, are waited for after the last word.
const MOST_AFTER: usize = 64;
const LONGEST_AFTER: Duration = Duration::from_secs(1);

/// An answer, from the question on.
pub(super) struct Answer<P> {
    shared: Arc<Shared<P>>,
    plan: Arc<Plan>,
    request: WireRequest,
    waits: Waits,
    /// None until somebody answers.
    reading: Option<Reading>,
    events: VecDeque<ModelEvent>,
    failed: Option<ModelError>,
    /// Whether anything of the answer has been told.
    told: bool,
    counted: Counted,
    over: bool,
}

/// What has been told, as far as it is bounded.
#[derive(Default)]
struct Counted {
    items: usize,
    calls: usize,
}

struct Reading {
    reader: Box<dyn Reader>,
    body: Body,
    pieces: BoxStream<'static, Result<Bytes, ModelError>>,
    begun: bool,
}

impl<P: Protocol> Answer<P> {
    pub(super) fn new(shared: Arc<Shared<P>>, request: &ModelRequest) -> Self {
        let plan = shared.plan(request);
        let (request, shown) = shared.write(request, &plan);
        Self {
            plan,
            request,
            waits: Waits::new(shared.connection.patience.retries),
            reading: None,
            events: VecDeque::from([ModelEvent::RequestSent(shown)]),
            failed: None,
            told: false,
            counted: Counted::default(),
            over: false,
            shared,
        }
    }

    pub(super) async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                self.over = true;
                // Whoever keeps the stream does not keep the connection.
                self.reading = None;
                return Some(Err(error));
            }
            if self.over {
                self.let_go().await;
                return None;
            }
            let advanced = match self.reading {
                None => self.send().await,
                Some(_) => self.read().await,
            };
            if let Err(error) = advanced {
                self.fail(error).await;
            }
        }
    }

    /// Hears out who has said everything, so that the connection serves again; but not for long.
    async fn let_go(&mut self) {
        if let Some(reading) = self.reading.take() {
            let rest = reading.pieces.take(MOST_AFTER).for_each(|_| async {});
            let _ = timeout(LONGEST_AFTER, rest).await;
        }
    }

    /// Keeps an error for when all before it is told, unless the question may be asked again.
    async fn fail(&mut self, error: ModelError) {
        let wait = match self.told {
            true => None,
            false => self.waits.after(&error),
        };
        match wait {
            Some(wait) => {
                tracing::debug!(model = %self.shared.id, %error, ?wait, "asking again");
                self.reading = None;
                sleep(wait).await;
            }
            None => self.failed = Some(error),
        }
    }

    async fn send(&mut self) -> Result<(), ModelError> {
        let connection = &self.shared.connection;
        let sent = connection.transport.send(self.request.clone());
        let first = connection.patience.first;
        let response = timeout(first, sent)
            .await
            .map_err(|_| late("nothing was answered", first))??;
        if !(200..300).contains(&response.status) {
            return Err(self.shared.refusal(response).await);
        }
        let said = response.header("content-type").unwrap_or_default();
        self.reading = Some(Reading {
            reader: self.shared.protocol.reader(Arc::clone(&self.plan)),
            body: Body::new(
                self.shared.protocol.framing(),
                said,
                self.shared.connection.streaming,
            ),
            pieces: response.body,
            begun: false,
        });
        Ok(())
    }

    /// Reads one more piece.
    async fn read(&mut self) -> Result<(), ModelError> {
        let Some(reading) = &mut self.reading else {
            return Ok(());
        };
        let patience = self.shared.connection.patience;
        let (wait, what) = match reading.begun {
            false => (patience.first, "the answer did not begin"),
            true => (patience.idle, "the answer stopped: nothing more came"),
        };
        let piece = timeout(wait, reading.pieces.next())
            .await
            .map_err(|_| late(what, wait))?
            .transpose()?;
        reading.begun = true;
        let mut read = Vec::new();
        let fed = match &piece {
            Some(bytes) => reading.body.feed(bytes, &mut read),
            None => reading.body.end(&mut read),
        };
        for read in read {
            let events = match read {
                Read::Frame(frame) => {
                    let data = whole_letters(&frame.data);
                    reading.reader.frame(&frame.name, &data)?
                }
                Read::Whole(json) => reading.reader.whole(&whole_letters(&json))?,
            };
            self.counted.add(&events)?;
            self.events.extend(events);
            self.told |= !self.events.is_empty();
            // Not everybody hangs up after the last word, and what comes after it is nothing to us.
            let last = self.events.back();
            if last.is_some_and(|event| matches!(event, ModelEvent::Finished { .. })) {
                self.over = true;
                return Ok(());
            }
        }
        fed?;
        if piece.is_none() {
            let rest = match (reading.reader.end(), reading.body.nothing()) {
                // Where nothing was in the protocol, that is what is wrong.
                (Err(_), Some(error)) => return Err(error),
                (rest, _) => rest?,
            };
            self.counted.add(&rest)?;
            self.events.extend(rest);
            self.over = true;
        }
        Ok(())
    }
}

impl<P: Protocol> Shared<P> {
    /// What an answer means that is none.
    async fn refusal(&self, response: WireResponse) -> ModelError {
        let status = response.status;
        let wait = retry_after(&response);
        if (300..400).contains(&status) {
            let to = response.header("location").unwrap_or("somewhere else");
            let message = format!(
                "the address is answered with a redirect to {}, which is not followed: a key goes nowhere else; \
                 set the base address to where it leads",
                excerpt(to)
            );
            return ModelError::new(ModelErrorKind::BadRequest, message);
        }
        let text = beginning(response, self.connection.patience.idle).await;
        let mut error = self.protocol.error(status, &text);
        if matches!(status, 408 | 409) {
            error.kind = ModelErrorKind::Overloaded;
        }
        let wait = wait.or(error.retry_after);
        error.retry_after(wait)
    }
}

impl Counted {
    fn add(&mut self, events: &[ModelEvent]) -> Result<(), ModelError> {
        for event in events {
            if let ModelEvent::Item(item) = event {
                self.items += 1;
                self.calls += usize::from(matches!(item.kind, ItemKind::Call { .. }));
            }
        }
        if self.calls > MOST_CALLS {
            return Err(too_many_calls());
        }
        if self.items > MOST_ITEMS {
            return Err(too_many_items());
        }
        Ok(())
    }
}

fn late(what: &str, patience: Duration) -> ModelError {
    let message = format!("{what} within {patience:?}");
    ModelError::new(ModelErrorKind::Timeout, message)
}

/// The beginning of a refusal's body, as far as it comes.
async fn beginning(mut response: WireResponse, patience: Duration) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(piece))) = timeout(patience, response.body.next()).await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > LONGEST_REFUSAL {
            bytes.truncate(LONGEST_REFUSAL);
            let start = String::from_utf8_lossy(&bytes);
            // The protocols redact what they show of it, and half a key is not recognised.
            return without_last_word(&start).to_owned();
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_across_the_end_of_what_is_read_of_a_refusal_is_redacted() {
        let key = format!("sk-{}", "Q7".repeat(20));
        for place in [
            LONGEST_REFUSAL - 8,
            LONGEST_REFUSAL - 20,
            LONGEST_REFUSAL + 5,
        ] {
            let body = format!("{}{key} end", " ".repeat(place));
            let response = WireResponse::new(500, body);
            let text = beginning(response, Duration::from_secs(1)).await;
            let shown = excerpt(&text);
            assert!(!shown.contains("Q7"), "key at {place}: {shown}");
        }
    }
}
