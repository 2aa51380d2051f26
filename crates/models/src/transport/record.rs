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

use super::recording::{Answered, Asked, Exchange, Recording, post};
use super::scrub::Scrub;
use super::{Transport, WireRequest, WireResponse};

/// The headers of an answer that somebody reads.
const KEPT: [&str; 3] = ["content-type", "retry-after", "retry-after-ms"];

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
/// use toolwright_models::{Recorder, Recording, Replay, Vendor};
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
/// let replay = Replay::new(Recording::load(&file)?);
/// let model = Vendor::named("ollama")?.model("qwen3").transport(replay).build()?;
/// let again: Vec<ModelEvent> = model.stream(ModelRequest::default()).try_collect().await?;
/// assert_eq!(again.len(), live.len());
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<dyn Transport>,
    scrub: Scrub,
    slots: Slots,
}

/// One place per request in the order they were sent; empty until its answer has ended.
type Slots = Arc<Mutex<Vec<Slot>>>;

#[derive(Clone)]
enum Slot {
    Open,
    Whole(Box<Exchange>),
    /// There was no answer.
    Failed,
}

impl Recorder {
    /// Records what another transport carries.
    pub fn new(inner: impl Transport) -> Self {
        Self {
            inner: Arc::new(inner),
            scrub: Scrub::default(),
            slots: Slots::default(),
        }
    }

    /// Masks a secret wherever it stands; the key of the request is masked anyway.
    #[must_use]
    pub fn secret(mut self, secret: &Secret) -> Self {
        self.scrub.add(secret.expose());
        self
    }

    /// Changes every text of a request, and the body of every answer, before they are written down.
    ///
    /// Give [`Replay::scrub`](crate::Replay::scrub) the same, so that requests still compare equal.
    #[must_use]
    pub fn scrub(mut self, scrub: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.scrub.set_own(scrub);
        self
    }

    /// What has been recorded; requests that were never answered are not in it.
    pub fn recording(&self) -> Recording {
        let slots = held(&self.slots);
        let whole = slots.iter().filter_map(|slot| match slot {
            Slot::Whole(exchange) => Some((**exchange).clone()),
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
        let is_open = |slot: &Slot| matches!(slot, Slot::Open);
        if held(&self.slots).iter().any(is_open) {
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
        let mut scrub = self.scrub.clone();
        scrub.learn(&request);
        let text = || Value::String(request.body.to_string());
        let mut body = serde_json::from_str(&request.body).unwrap_or_else(|_| text());
        scrub.json(&mut body);
        let asked = Asked {
            method: post(),
            path: scrub.path(&request.url),
            body,
        };
        let place = {
            let mut slots = held(&self.slots);
            slots.push(Slot::Open);
            slots.len() - 1
        };
        let mut tap = Tap {
            slots: Arc::clone(&self.slots),
            place,
            asked,
            scrub,
            answer: None,
            pieces: Vec::new(),
            ended: false,
        };
        async move {
            let response = self.inner.send(request).await?;
            let known = KEPT
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), response.header(name)?.to_owned())));
            tap.answer = Some((response.status, known.collect()));
            let WireResponse {
                status,
                headers,
                body,
            } = response;
            let body = Taped { body, tap }.boxed();
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
struct Tap {
    slots: Slots,
    place: usize,
    asked: Asked,
    scrub: Scrub,
    answer: Option<(u16, BTreeMap<String, String>)>,
    pieces: Vec<Bytes>,
    ended: bool,
}

impl Drop for Tap {
    fn drop(&mut self) {
        let filed = match self.answer.take() {
            None => Slot::Failed,
            Some((status, headers)) => {
                let mut response = Answered::new(status, headers);
                response.cut = !self.ended;
                response.keep(&self.pieces, |text| self.scrub.text(text));
                let request = self.asked.clone();
                Slot::Whole(Box::new(Exchange { request, response }))
            }
        };
        if let Some(slot) = held(&self.slots).get_mut(self.place) {
            *slot = filed;
        }
    }
}

/// The body of an answer, listened to.
struct Taped {
    body: BoxStream<'static, Result<Bytes, ModelError>>,
    tap: Tap,
}

impl Stream for Taped {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.body.poll_next_unpin(cx);
        match &polled {
            Poll::Ready(Some(Ok(piece))) => self.tap.pieces.push(piece.clone()),
            Poll::Ready(None) => self.tap.ended = true,
            _ => {}
        }
        polled
    }
}

fn held(slots: &Slots) -> MutexGuard<'_, Vec<Slot>> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}
