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
use toolwright_core::wire::ToolPlan;

use super::ModelClient;
use super::backoff::{Backoff, retry_after};
use super::body_decoder::{BodyDecoder, DecodedPart};
use crate::excerpt::{excerpt, without_last_word};
use crate::limits::{MAX_CALLS, MAX_ERROR_BODY_BYTES, MAX_ITEMS, too_many_calls, too_many_items};
use crate::protocol::json::replace_lone_surrogates;
use crate::protocol::{Protocol, ResponseParser};
use crate::transport::{WireRequest, WireResponse};

/// So many pieces, and so long, are waited for after the last word.
const MAX_DRAINED_CHUNKS: usize = 64;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// An answer, from the question on.
pub(super) struct ResponseStream<P> {
    client: Arc<ModelClient<P>>,
    plan: Arc<ToolPlan>,
    request: WireRequest,
    backoff: Backoff,
    /// None until somebody answers.
    open_response: Option<OpenResponse>,
    events: VecDeque<ModelEvent>,
    pending_error: Option<ModelError>,
    /// Whether anything of the answer has been told.
    has_emitted: bool,
    emitted_counts: EmittedCounts,
    is_finished: bool,
}

/// What has been told, as far as it is bounded.
#[derive(Default)]
struct EmittedCounts {
    items: usize,
    calls: usize,
}

struct OpenResponse {
    parser: Box<dyn ResponseParser>,
    decoder: BodyDecoder,
    chunks: BoxStream<'static, Result<Bytes, ModelError>>,
    has_first_chunk: bool,
}

impl<P: Protocol> ResponseStream<P> {
    pub(super) fn new(shared: Arc<ModelClient<P>>, request: &ModelRequest) -> Self {
        let plan = shared.plan_tools(request);
        let (request, shown) = shared.build_request(request, &plan);
        Self {
            plan,
            request,
            backoff: Backoff::new(shared.connection.timeouts.retries),
            open_response: None,
            events: VecDeque::from([ModelEvent::RequestSent(shown)]),
            pending_error: None,
            has_emitted: false,
            emitted_counts: EmittedCounts::default(),
            is_finished: false,
            client: shared,
        }
    }

    pub(super) async fn next_event(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.pending_error.take() {
                self.is_finished = true;
                // Whoever keeps the stream does not keep the connection.
                self.open_response = None;
                return Some(Err(error));
            }
            if self.is_finished {
                self.drain_connection().await;
                return None;
            }
            let advanced = match self.open_response {
                None => self.send_request().await,
                Some(_) => self.read_chunk().await,
            };
            if let Err(error) = advanced {
                self.retry_or_fail(error).await;
            }
        }
    }

    /// Hears out who has said everything, so that the connection serves again; but not for long.
    async fn drain_connection(&mut self) {
        if let Some(reading) = self.open_response.take() {
            let rest = reading
                .chunks
                .take(MAX_DRAINED_CHUNKS)
                .for_each(|_| async {});
            let _ = timeout(DRAIN_TIMEOUT, rest).await;
        }
    }

    /// Keeps an error for when all before it is told, unless the question may be asked again.
    async fn retry_or_fail(&mut self, error: ModelError) {
        let wait = match self.has_emitted {
            true => None,
            false => self.backoff.delay_after(&error),
        };
        match wait {
            Some(wait) => {
                tracing::debug!(model = %self.client.id, %error, ?wait, "asking again");
                self.open_response = None;
                sleep(wait).await;
            }
            None => self.pending_error = Some(error),
        }
    }

    async fn send_request(&mut self) -> Result<(), ModelError> {
        let connection = &self.client.connection;
        let sent = connection.transport.send(self.request.clone());
        let first = connection.timeouts.first_byte;
        let response = timeout(first, sent)
            .await
            .map_err(|_| timeout_error("nothing was answered", first))??;
        if !(200..300).contains(&response.status) {
            return Err(self.client.error_from_response(response).await);
        }
        let said = response.header("content-type").unwrap_or_default();
        self.open_response = Some(OpenResponse {
            parser: self.client.protocol.parser(Arc::clone(&self.plan)),
            decoder: BodyDecoder::new(
                self.client.protocol.framing(),
                said,
                self.client.connection.streaming,
            ),
            chunks: response.body,
            has_first_chunk: false,
        });
        Ok(())
    }

    /// Reads one more piece.
    async fn read_chunk(&mut self) -> Result<(), ModelError> {
        let Some(reading) = &mut self.open_response else {
            return Ok(());
        };
        let patience = self.client.connection.timeouts;
        let (wait, what) = match reading.has_first_chunk {
            false => (patience.first_byte, "the answer did not begin"),
            true => (patience.idle, "the answer stopped: nothing more came"),
        };
        let piece = timeout(wait, reading.chunks.next())
            .await
            .map_err(|_| timeout_error(what, wait))?
            .transpose()?;
        reading.has_first_chunk = true;
        let mut read = Vec::new();
        let fed = match &piece {
            Some(bytes) => reading.decoder.push_bytes(bytes, &mut read),
            None => reading.decoder.finish(&mut read),
        };
        for read in read {
            let events = match read {
                DecodedPart::Frame(frame) => {
                    let data = replace_lone_surrogates(&frame.data);
                    reading.parser.parse_frame(&frame.event_name, &data)?
                }
                DecodedPart::CompleteBody(json) => reading
                    .parser
                    .parse_complete_body(&replace_lone_surrogates(&json))?,
            };
            self.emitted_counts.count_events(&events)?;
            self.events.extend(events);
            self.has_emitted |= !self.events.is_empty();
            // Not everybody hangs up after the last word, and what comes after it is nothing to us.
            let last = self.events.back();
            if last.is_some_and(|event| matches!(event, ModelEvent::Finished { .. })) {
                self.is_finished = true;
                return Ok(());
            }
        }
        fed?;
        if piece.is_none() {
            let rest = match (
                reading.parser.end_of_stream(),
                reading.decoder.no_frames_error(),
            ) {
                // Where nothing was in the protocol, that is what is wrong.
                (Err(_), Some(error)) => return Err(error),
                (rest, _) => rest?,
            };
            self.emitted_counts.count_events(&rest)?;
            self.events.extend(rest);
            self.is_finished = true;
        }
        Ok(())
    }
}

impl<P: Protocol> ModelClient<P> {
    /// What an answer means that is none.
    async fn error_from_response(&self, response: WireResponse) -> ModelError {
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
        let text = read_error_body(response, self.connection.timeouts.idle).await;
        let mut error = self.protocol.parse_error(status, &text);
        if matches!(status, 408 | 409) {
            error.kind = ModelErrorKind::Overloaded;
        }
        let wait = wait.or(error.retry_after);
        error.retry_after(wait)
    }
}

impl EmittedCounts {
    fn count_events(&mut self, events: &[ModelEvent]) -> Result<(), ModelError> {
        for event in events {
            if let ModelEvent::Item(item) = event {
                self.items += 1;
                self.calls += usize::from(matches!(item.kind, ItemKind::Call { .. }));
            }
        }
        if self.calls > MAX_CALLS {
            return Err(too_many_calls());
        }
        if self.items > MAX_ITEMS {
            return Err(too_many_items());
        }
        Ok(())
    }
}

fn timeout_error(what: &str, patience: Duration) -> ModelError {
    let message = format!("{what} within {patience:?}");
    ModelError::new(ModelErrorKind::Timeout, message)
}

/// The beginning of a refusal's body, as far as it comes.
async fn read_error_body(mut response: WireResponse, patience: Duration) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(piece))) = timeout(patience, response.body.next()).await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_ERROR_BODY_BYTES {
            bytes.truncate(MAX_ERROR_BODY_BYTES);
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
            MAX_ERROR_BODY_BYTES - 8,
            MAX_ERROR_BODY_BYTES - 20,
            MAX_ERROR_BODY_BYTES + 5,
        ] {
            let body = format!("{}{key} end", " ".repeat(place));
            let response = WireResponse::new(500, body);
            let text = read_error_body(response, Duration::from_secs(1)).await;
            let shown = excerpt(&text);
            assert!(!shown.contains("Q7"), "key at {place}: {shown}");
        }
    }
}
