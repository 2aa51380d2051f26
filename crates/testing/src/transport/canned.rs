//! A transport with canned responses, which keeps the requests.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::{self, BoxFuture};
use futures::{FutureExt as _, Stream};
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_models::{Transport, WireRequest, WireResponse};

/// One response of a [`CannedTransport`].
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct CannedResponse {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The chunks of the body.
    pub chunks: Vec<Bytes>,
    /// Whether the body does not end after its chunks.
    pub hangs: bool,
    /// Whether the response never arrives.
    pub never_arrives: bool,
}

impl CannedResponse {
    /// Responds with status 200 and a body in one chunk.
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            chunks: vec![body.into()],
            hangs: false,
            never_arrives: false,
        }
    }

    /// Responds with status 200 and a body that is cut into chunks at these positions.
    pub fn in_chunks(body: impl Into<Bytes>, cuts: &[usize]) -> Self {
        let mut rest = body.into();
        let mut cuts = cuts.to_vec();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        // From the back, so that every position counts from the start of the body.
        for cut in cuts.into_iter().rev() {
            chunks.push(rest.split_off(cut.min(rest.len())));
        }
        chunks.push(rest);
        chunks.reverse();
        Self { chunks, ..Self::ok("") }
    }

    /// Responds with another status.
    pub fn error(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, ..Self::ok(body) }
    }

    /// Never responds.
    pub fn never() -> Self {
        Self { never_arrives: true, ..Self::ok("") }
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Keeps the body open after its last chunk.
    pub fn hanging(mut self) -> Self {
        self.hangs = true;
        self
    }
}

/// Responds with canned responses in order, and keeps the requests; clones share both.
///
/// A request without a response fails with [`ModelErrorKind::Forbidden`].
///
/// # Examples
///
/// ```
/// use toolwright::chat::{Model as _, ModelEvent, ModelRequest};
/// use toolwright::futures::TryStreamExt as _;
/// use toolwright::models::Vendor;
/// use toolwright::testing::{CannedResponse, CannedTransport};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let line = r#"{"message":{"role":"assistant","content":"Hello."},"done":true,"done_reason":"stop"}"#;
/// let transport = CannedTransport::new([CannedResponse::ok(line)]);
/// let model = Vendor::by_name("ollama")?.model("qwen3").transport(transport.clone()).build()?;
/// let events: Vec<ModelEvent> = model.stream(ModelRequest::default()).try_collect().await?;
/// assert!(matches!(&events[1], ModelEvent::Text(text) if text == "Hello."));
/// assert_eq!(transport.requests()[0].url.path(), "/api/chat");
/// # Ok::<(), toolwright::chat::ModelError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CannedTransport(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    responses: Mutex<VecDeque<CannedResponse>>,
    requests: Mutex<Vec<WireRequest>>,
    dropped: AtomicUsize,
}

impl CannedTransport {
    /// Responds with these.
    pub fn new(responses: impl IntoIterator<Item = CannedResponse>) -> Self {
        let transport = Self::default();
        lock(&transport.0.responses).extend(responses);
        transport
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<WireRequest> {
        lock(&self.0.requests).clone()
    }

    /// The number of responses, or of requests without one, that were dropped before their end.
    pub fn dropped_count(&self) -> usize {
        self.0.dropped.load(Ordering::SeqCst)
    }
}

impl Transport for CannedTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        lock(&self.0.requests).push(request);
        let Some(canned) = lock(&self.0.responses).pop_front() else {
            let message = "there are more requests than canned responses";
            return future::ready(Err(ModelError::new(ModelErrorKind::Forbidden, message))).boxed();
        };
        let drop_counter = DropCounter { shared: Arc::clone(&self.0), is_ended: false };
        async move {
            if canned.never_arrives {
                future::pending::<()>().await;
            }
            let body =
                CannedBody { chunks: canned.chunks.into(), hangs: canned.hangs, drop_counter };
            let mut response = WireResponse::streamed(canned.status, body);
            for (name, value) in canned.headers {
                response = response.with_header(&name, value);
            }
            Ok(response)
        }
        .boxed()
    }
}

/// Counts itself when it is dropped before the end.
struct DropCounter {
    shared: Arc<Shared>,
    is_ended: bool,
}

impl Drop for DropCounter {
    fn drop(&mut self) {
        if !self.is_ended {
            self.shared.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct CannedBody {
    chunks: VecDeque<Bytes>,
    hangs: bool,
    drop_counter: DropCounter,
}

impl Stream for CannedBody {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.chunks.pop_front() {
            Some(chunk) => Poll::Ready(Some(Ok(chunk))),
            None if self.hangs => Poll::Pending,
            None => {
                self.drop_counter.is_ended = true;
                Poll::Ready(None)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
