//! Another transport in, the same out, with everything it carried written down.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result as Io};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt as _, Stream, StreamExt as _};
use serde_json::Value;
use toolwright_chat::ModelError;
use toolwright_core::Secret;

use super::recording::{Exchange, RecordedRequest, RecordedResponse, Recording, post};
use super::redactor::Redactor;
use super::{Transport, WireRequest, WireResponse};

/// The headers of an answer that somebody reads.
const RECORDED_HEADERS: [&str; 3] = ["content-type", "retry-after", "retry-after-ms"];

/// Writes down what another transport carries; clones write into the same recording.
///
/// The recording has no host, no header of the request, and no key: sensitive headers, the tokens of MCP servers and what
/// [`Recorder::secret`] names are `***` wherever they stand. Nothing is written to disk before [`Recorder::save`], so a test
/// that fails leaves the recording of before as it was.
///
/// # Examples
///
/// ```
/// use futures::TryStreamExt as _;
/// use toolwright_chat::{Model as _, ModelEvent, ModelRequest};
/// use toolwright_models::{Recorder, Recording, Replayer, Vendor};
/// # use futures::{FutureExt as _, future::BoxFuture};
/// # use toolwright_chat::ModelError;
/// # use toolwright_models::{Transport, WireRequest, WireResponse};
/// # struct Http;
/// # impl Http { fn new() -> Self { Self } }
/// # impl Transport for Http {
/// #     fn send(&self, _: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
/// #         async { Ok(WireResponse::new(200, r#"{"message":{"content":"Hello."},"done":true}"#)) }.boxed()
/// #     }
/// # }
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("hello.json");
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// // Once, with a model at hand:
/// let recorder = Recorder::new(Http::new());
/// let model = Vendor::named("ollama")?.model("qwen3").transport(recorder.clone()).build()?;
/// let live: Vec<ModelEvent> = model.stream(ModelRequest::default()).try_collect().await?;
/// recorder.save(&file)?;
///
/// // From then on without one:
/// let replay = Replayer::new(Recording::load(&file)?);
/// let model = Vendor::named("ollama")?.model("qwen3").transport(replay).build()?;
/// let again: Vec<ModelEvent> = model.stream(ModelRequest::default()).try_collect().await?;
/// assert_eq!(again.len(), live.len());
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<dyn Transport>,
    redactor: Redactor,
    exchanges: SharedExchanges,
}

/// One place per request in the order they were sent; empty until its answer has ended.
type SharedExchanges = Arc<Mutex<Vec<ExchangeState>>>;

#[derive(Clone)]
enum ExchangeState {
    InProgress,
    Complete(Box<Exchange>),
    /// There was no answer.
    Failed,
}

impl Recorder {
    /// Records what another transport carries.
    pub fn new(inner: impl Transport) -> Self {
        Self {
            inner: Arc::new(inner),
            redactor: Redactor::default(),
            exchanges: SharedExchanges::default(),
        }
    }

    /// Masks a secret wherever it stands; the key of the request is masked anyway.
    #[must_use]
    pub fn secret(mut self, secret: &Secret) -> Self {
        self.redactor.add_secret(secret.expose());
        self
    }

    /// Changes every text of a request, and the body of every answer, before they are written down.
    ///
    /// Give [`Replayer::scrub`](crate::Replayer::scrub) the same, so that requests still compare equal.
    #[must_use]
    pub fn redact_with(mut self, scrub: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.redactor.set_custom(scrub);
        self
    }

    /// What has been recorded; requests that were never answered are not in it.
    pub fn recording(&self) -> Recording {
        let slots = lock(&self.exchanges);
        let whole = slots.iter().filter_map(|slot| match slot {
            ExchangeState::Complete(exchange) => Some((**exchange).clone()),
            _ => None,
        });
        Recording {
            exchanges: whole.collect(),
        }
    }

    /// Writes the recording to a file, all of it or nothing.
    ///
    /// # Errors
    ///
    /// Nothing was recorded, an answer is still being read, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Io<()> {
        let is_open = |slot: &ExchangeState| matches!(slot, ExchangeState::InProgress);
        if lock(&self.exchanges).iter().any(is_open) {
            let message = "an answer is still being read: finish or drop it before saving";
            return Err(Error::new(ErrorKind::ResourceBusy, message));
        }
        let recording = self.recording();
        if recording.is_empty() {
            let message = "nothing was recorded: no request was answered";
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        recording.save(path)
    }
}

impl Transport for Recorder {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        let mut scrub = self.redactor.clone();
        scrub.collect_secrets(&request);
        let text = || Value::String(request.body.to_string());
        let mut body = serde_json::from_str(&request.body).unwrap_or_else(|_| text());
        scrub.redact_json(&mut body);
        let asked = RecordedRequest {
            method: post(),
            path: scrub.redacted_path(&request.url),
            body,
        };
        let place = {
            let mut slots = lock(&self.exchanges);
            slots.push(ExchangeState::InProgress);
            slots.len() - 1
        };
        let mut tap = ExchangeCapture {
            exchanges: Arc::clone(&self.exchanges),
            index: place,
            request: asked,
            redactor: scrub,
            response_head: None,
            chunks: Vec::new(),
            is_complete: false,
        };
        async move {
            let response = self.inner.send(request).await?;
            let known = RECORDED_HEADERS
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), response.header(name)?.to_owned())));
            tap.response_head = Some((response.status, known.collect()));
            let WireResponse {
                status,
                headers,
                body,
            } = response;
            let body = CapturedBody { body, capture: tap }.boxed();
            Ok(WireResponse {
                status,
                headers,
                body,
            })
        }
        .boxed()
    }
}

/// Keeps what passes, and files it when it goes: the answer has ended, failed, or was given up.
struct ExchangeCapture {
    exchanges: SharedExchanges,
    index: usize,
    request: RecordedRequest,
    redactor: Redactor,
    response_head: Option<(u16, BTreeMap<String, String>)>,
    chunks: Vec<Bytes>,
    is_complete: bool,
}

impl Drop for ExchangeCapture {
    fn drop(&mut self) {
        let filed = match self.response_head.take() {
            None => ExchangeState::Failed,
            Some((status, headers)) => {
                let mut response = RecordedResponse::new(status, headers);
                response.cut = !self.is_complete;
                response.set_body(&self.chunks, |text| self.redactor.redact_text(text));
                let request = self.request.clone();
                ExchangeState::Complete(Box::new(Exchange { request, response }))
            }
        };
        if let Some(slot) = lock(&self.exchanges).get_mut(self.index) {
            *slot = filed;
        }
    }
}

/// The body of an answer, listened to.
struct CapturedBody {
    body: BoxStream<'static, Result<Bytes, ModelError>>,
    capture: ExchangeCapture,
}

impl Stream for CapturedBody {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.body.poll_next_unpin(cx);
        match &polled {
            Poll::Ready(Some(Ok(piece))) => self.capture.chunks.push(piece.clone()),
            Poll::Ready(None) => self.capture.is_complete = true,
            _ => {}
        }
        polled
    }
}

fn lock(slots: &SharedExchanges) -> MutexGuard<'_, Vec<ExchangeState>> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}
