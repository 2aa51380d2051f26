//! Sends a request, and reads its response as a stream of [`ModelEvent`]s.
//!
//! A request is retried only until the first event is emitted: emitted text cannot be taken back.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use tokio::time::{Duration, sleep, timeout};
use toolwright_chat::{ItemKind, ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use toolwright_core::wire::ToolPlan;

use super::body_decoder::{BodyDecoder, DecodedPart};
use super::retries::{Retries, retry_after};
use super::{ModelClient, with_vendor, without_sent_secrets};
use crate::excerpt::{excerpt, without_last_word};
use crate::limits::{MAX_CALLS, MAX_ERROR_BODY_BYTES, MAX_ITEMS, too_many_calls, too_many_items};
use crate::protocol::ResponseParser;
use crate::protocol::json::replace_lone_surrogates;
use crate::transport::{WireRequest, WireResponse};

/// How many chunks, and how long, the connection is drained after the last event.
const MAX_DRAINED_CHUNKS: usize = 64;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// A larger buffer, after a chunk with many events, is not kept.
const MAX_KEPT_EVENTS: usize = 16;

/// One request and its response.
pub(super) struct ResponseStream {
    client: Arc<ModelClient>,
    plan: Arc<ToolPlan>,
    request: WireRequest,
    retries: Retries,
    /// `None` until the response starts, and before each retry.
    open_response: Option<OpenResponse>,
    events: VecDeque<ModelEvent>,
    pending_error: Option<ModelError>,
    /// Whether any event of the response was emitted.
    has_emitted: bool,
    emitted_counts: EmittedCounts,
    is_finished: bool,
}

/// The numbers of emitted events that are limited.
#[derive(Default)]
struct EmittedCounts {
    items: usize,
    calls: usize,
}

/// A response whose body is still being read.
struct OpenResponse {
    parser: Box<dyn ResponseParser>,
    decoder: BodyDecoder,
    chunks: BoxStream<'static, Result<Bytes, ModelError>>,
    has_first_chunk: bool,
}

impl ResponseStream {
    pub(super) fn new(client: Arc<ModelClient>, request: &ModelRequest) -> Self {
        let plan = client.plan_tools(request);
        let (request, redacted_body) = client.build_request(request, &plan);
        Self {
            plan,
            request,
            retries: Retries::new(client.connection.timeouts.retries),
            open_response: None,
            events: VecDeque::from([ModelEvent::RequestSent(redacted_body)]),
            pending_error: None,
            has_emitted: false,
            emitted_counts: EmittedCounts::default(),
            is_finished: false,
            client,
        }
    }

    pub(super) async fn next_event(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            if self.events.capacity() > MAX_KEPT_EVENTS {
                self.events = VecDeque::new();
            }
            if let Some(error) = self.pending_error.take() {
                self.is_finished = true;
                // A caller that keeps the stream must not keep the connection open.
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

    /// Reads the rest of the body, so that the connection can be reused; gives up soon.
    async fn drain_connection(&mut self) {
        if let Some(response) = self.open_response.take() {
            let rest = response.chunks.take(MAX_DRAINED_CHUNKS).for_each(|_| async {});
            let _ = timeout(DRAIN_TIMEOUT, rest).await;
        }
    }

    /// Waits for a retry; if there is none, stores the error to emit it after the pending events.
    async fn retry_or_fail(&mut self, error: ModelError) {
        let delay = match self.has_emitted {
            true => None,
            false => self.retries.delay_after(&error),
        };
        match delay {
            Some(delay) => {
                tracing::debug!(model = %self.client.id, %error, ?delay, "retrying");
                self.open_response = None;
                sleep(delay).await;
            }
            None => {
                let has_begun = self.open_response.is_some();
                let ModelClient { id, url, connection, .. } = &*self.client;
                let error = without_sent_secrets(error, &connection.headers);
                self.pending_error = Some(with_vendor(error, &id.vendor, url, has_begun));
            }
        }
    }

    async fn send_request(&mut self) -> Result<(), ModelError> {
        let connection = &self.client.connection;
        let response = connection.transport.send(self.request.clone());
        let limit = connection.timeouts.first_byte;
        let response = timeout(limit, response)
            .await
            .map_err(|_| timeout_error("nothing was answered", limit))??;
        if !(200..300).contains(&response.status) {
            return Err(self.client.error_from_response(response).await);
        }
        let content_type = response.header("content-type").unwrap_or_default();
        self.open_response = Some(OpenResponse {
            parser: self.client.protocol.parser(Arc::clone(&self.plan)),
            decoder: BodyDecoder::new(
                self.client.protocol.framing(),
                content_type,
                self.client.connection.streaming,
            ),
            chunks: response.body,
            has_first_chunk: false,
        });
        Ok(())
    }

    /// Reads and parses the next chunk.
    async fn read_chunk(&mut self) -> Result<(), ModelError> {
        let Some(response) = &mut self.open_response else {
            return Ok(());
        };
        let timeouts = self.client.connection.timeouts;
        let (limit, message) = match response.has_first_chunk {
            false => (timeouts.first_byte, "the answer did not begin"),
            true => (timeouts.idle, "the answer stopped: nothing more came"),
        };
        let chunk = timeout(limit, response.chunks.next())
            .await
            .map_err(|_| timeout_error(message, limit))?
            .transpose()?;
        response.has_first_chunk = true;
        let OpenResponse { parser, decoder, .. } = response;
        let mut on_part = |part: DecodedPart<'_>| {
            // Some servers keep the connection open after the last frame; further bytes are ignored.
            if self.is_finished {
                return Ok(());
            }
            match part {
                DecodedPart::Frame(frame) => {
                    parser.parse_frame(frame.event_name, &replace_lone_surrogates(frame.data))?
                }
                DecodedPart::CompleteBody(json) => {
                    parser.parse_complete_body(&replace_lone_surrogates(json))?
                }
            }
            self.emitted_counts.count_events(parser.events())?;
            self.events.extend(parser.events().drain(..));
            self.has_emitted |= !self.events.is_empty();
            let last = self.events.back();
            self.is_finished =
                last.is_some_and(|event| matches!(event, ModelEvent::Finished { .. }));
            Ok(())
        };
        let decoded = match &chunk {
            Some(bytes) => decoder.push_bytes(bytes, &mut on_part),
            None => decoder.finish(&mut on_part),
        };
        if self.is_finished {
            return Ok(());
        }
        decoded?;
        if chunk.is_none() {
            match (parser.end_of_stream(), decoder.no_frames_error()) {
                // More precise than the parser's error, which is that the response is cut off.
                (Err(_), Some(error)) => return Err(error),
                (rest, _) => rest?,
            }
            self.emitted_counts.count_events(parser.events())?;
            self.events.extend(parser.events().drain(..));
            self.is_finished = true;
        }
        Ok(())
    }
}

impl ModelClient {
    /// Converts a response whose status is not 2xx.
    async fn error_from_response(&self, response: WireResponse) -> ModelError {
        let status = response.status;
        let delay = retry_after(&response);
        if (300..400).contains(&status) {
            let target = response.header("location").unwrap_or("somewhere else");
            let message = format!(
                "the address is answered with a redirect to {}, which is not followed: a key goes nowhere else; \
                 set the base address to where it leads",
                excerpt(target)
            );
            return ModelError::new(ModelErrorKind::BadRequest, message);
        }
        let text = read_error_body(response, self.connection.timeouts.idle).await;
        let error = self.protocol.parse_error(status, &text);
        let delay = delay.or(error.retry_after);
        error.retry_after(delay)
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

fn timeout_error(message: &str, limit: Duration) -> ModelError {
    let message = format!("{message} within {limit:?}");
    ModelError::new(ModelErrorKind::Timeout, message)
}

/// Reads the start of an error body, until its end, an error or the timeout.
async fn read_error_body(mut response: WireResponse, idle_timeout: Duration) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(chunk))) = timeout(idle_timeout, response.body.next()).await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_ERROR_BODY_BYTES {
            bytes.truncate(MAX_ERROR_BODY_BYTES);
            let start = String::from_utf8_lossy(&bytes);
            // The protocols redact their excerpts of it, and would not recognise half a key.
            return without_last_word(&start).to_owned();
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_across_the_end_of_a_truncated_error_body_is_redacted() {
        let key = format!("sk-{}", "Q7".repeat(20));
        for place in [MAX_ERROR_BODY_BYTES - 8, MAX_ERROR_BODY_BYTES - 20, MAX_ERROR_BODY_BYTES + 5]
        {
            let body = format!("{}{key} end", " ".repeat(place));
            let response = WireResponse::new(500, body);
            let text = read_error_body(response, Duration::from_secs(1)).await;
            let shown = excerpt(&text);
            assert!(!shown.contains("Q7"), "key at {place}: {shown}");
        }
    }
}
