//! A transport that records the exchanges of another one.

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
use toolwright_chat::ModelError;
use toolwright_core::Secret;
use toolwright_models::{Transport, WireRequest, WireResponse};

use super::recording::{Exchange, RecordedRequest, RecordedResponse, Recording};
use super::redactor::Redactor;

/// The response headers that are recorded: those that the client reads.
const RECORDED_HEADERS: [&str; 3] = ["content-type", "retry-after", "retry-after-ms"];

/// Records the exchanges of another transport; clones add to the same recording.
///
/// The recording has no host, no request headers, and no keys: the values of sensitive headers, the tokens of MCP servers and
/// the secrets of [`Recorder::secret`] are `***` wherever they occur. Nothing is written to disk before [`Recorder::save`], so
/// a failed test leaves the previous recording unchanged.
///
/// # Examples
///
/// ```
/// use toolwright::chat::{Model as _, ModelEvent, ModelRequest};
/// use toolwright::futures::TryStreamExt as _;
/// use toolwright::models::Vendor;
/// use toolwright::testing::{Recorder, Recording, Replayer};
/// # use toolwright::testing::{CannedResponse, CannedTransport};
/// # struct HttpTransport;
/// # impl HttpTransport {
/// #     fn new() -> CannedTransport {
/// #         CannedTransport::new([CannedResponse::ok(r#"{"message":{"content":"Hello."},"done":true}"#)])
/// #     }
/// # }
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("hello.json");
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// // Once, with a running model:
/// let recorder = Recorder::new(HttpTransport::new());
/// let model = Vendor::by_name("ollama")?.model("qwen3").transport(recorder.clone()).build()?;
/// let live: Vec<ModelEvent> = model.stream(ModelRequest::default()).try_collect().await?;
/// recorder.save(&file)?;
///
/// // From then on without it:
/// let replayer = Replayer::new(Recording::load(&file)?);
/// let model = Vendor::by_name("ollama")?.model("qwen3").transport(replayer).build()?;
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

/// One entry per request, in the order they were sent.
type SharedExchanges = Arc<Mutex<Vec<ExchangeState>>>;

#[derive(Clone)]
enum ExchangeState {
    InProgress,
    Complete(Box<Exchange>),
    /// There was no response.
    Failed,
}

impl Recorder {
    /// Records the exchanges of `inner`.
    pub fn new(inner: impl Transport) -> Self {
        Self {
            inner: Arc::new(inner),
            redactor: Redactor::default(),
            exchanges: SharedExchanges::default(),
        }
    }

    /// Redacts a secret wherever it occurs; sensitive headers are redacted anyway.
    #[must_use]
    pub fn secret(mut self, secret: &Secret) -> Self {
        self.redactor.add_secret(secret.expose());
        self
    }

    /// Applies a function to every text of a request, and to the body of every response, before they are recorded.
    ///
    /// Pass the same to [`Replayer::redact_with`](crate::Replayer::redact_with), so that requests still compare equal.
    #[must_use]
    pub fn redact_with(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.redactor.set_custom(redact);
        self
    }

    /// Returns the complete exchanges so far; requests without a response are left out.
    pub fn recording(&self) -> Recording {
        let exchanges = lock(&self.exchanges);
        let complete = exchanges.iter().filter_map(|state| match state {
            ExchangeState::Complete(exchange) => Some((**exchange).clone()),
            _ => None,
        });
        Recording { exchanges: complete.collect() }
    }

    /// Writes the recording to a file, atomically.
    ///
    /// # Errors
    ///
    /// Nothing was recorded, a response is still being read, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Io<()> {
        let in_progress = |state: &ExchangeState| matches!(state, ExchangeState::InProgress);
        if lock(&self.exchanges).iter().any(in_progress) {
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
        let mut redactor = self.redactor.clone();
        let recorded = redactor.record_request(&request);
        let index = {
            let mut exchanges = lock(&self.exchanges);
            exchanges.push(ExchangeState::InProgress);
            exchanges.len() - 1
        };
        let mut capture = ExchangeCapture {
            exchanges: Arc::clone(&self.exchanges),
            index,
            request: recorded,
            redactor,
            response_head: None,
            chunks: Vec::new(),
            is_complete: false,
        };
        async move {
            let mut response = self.inner.send(request).await?;
            let headers = RECORDED_HEADERS
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), response.header(name)?.to_owned())));
            capture.response_head = Some((response.status, headers.collect()));
            response.body = CapturedBody { body: response.body, capture }.boxed();
            Ok(response)
        }
        .boxed()
    }
}

/// Collects one exchange, and stores it on drop: when the response has ended, failed, or was dropped.
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
        let state = match self.response_head.take() {
            None => ExchangeState::Failed,
            Some((status, headers)) => {
                let mut response = RecordedResponse::new(status, headers);
                response.cut = !self.is_complete;
                response.set_body(&self.chunks, |text| self.redactor.redact_text(text));
                let request = self.request.clone();
                ExchangeState::Complete(Box::new(Exchange { request, response }))
            }
        };
        if let Some(entry) = lock(&self.exchanges).get_mut(self.index) {
            *entry = state;
        }
    }
}

/// The body of a response, whose chunks are captured.
struct CapturedBody {
    body: BoxStream<'static, Result<Bytes, ModelError>>,
    capture: ExchangeCapture,
}

impl Stream for CapturedBody {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.body.poll_next_unpin(cx);
        match &polled {
            Poll::Ready(Some(Ok(chunk))) => self.capture.chunks.push(chunk.clone()),
            Poll::Ready(None) => self.capture.is_complete = true,
            _ => {}
        }
        polled
    }
}

fn lock(exchanges: &SharedExchanges) -> MutexGuard<'_, Vec<ExchangeState>> {
    exchanges.lock().unwrap_or_else(PoisonError::into_inner)
}
