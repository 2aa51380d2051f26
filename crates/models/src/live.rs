//! A protocol and an address in, a model out: the one place that opens connections.
//!
//! Nothing is retried once the first event has come: what the model said cannot be unsaid.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use tokio::time::{sleep, timeout};
use toolwright_chat::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelId, ModelRequest, ModelStream,
};
use toolwright_core::Entry;
use toolwright_core::wire::{Plan, Planner};
use url::Url;

use crate::protocol::{Protocol, Reader};
use crate::sse::Decoder;

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the beginning of an answer.
    pub first: Duration,
    /// For the next piece of it.
    pub idle: Duration,
    /// How often a request that may well succeed later is made again.
    pub retries: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first: Duration::from_secs(120),
            idle: Duration::from_secs(90),
            retries: 3,
        }
    }
}

/// Nobody waits longer before asking again, whatever the vendor says.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Error bodies are read up to here.
const LONGEST_ERROR: usize = 64 << 10;

/// A model behind a wire protocol.
pub(crate) struct Live<P>(Arc<Shared<P>>);

struct Shared<P> {
    id: ModelId,
    protocol: P,
    base: Url,
    headers: HeaderMap,
    client: Client,
    patience: Patience,
    /// The plan for the tools of the last request: a turn asks many times with the same.
    planned: Mutex<Option<Planned>>,
}

/// Tools, and the plan for them.
type Planned = (Arc<[Entry]>, Arc<Plan>);

impl<P: Protocol> Live<P> {
    pub(crate) fn new(
        id: ModelId,
        protocol: P,
        base: Url,
        headers: HeaderMap,
        patience: Patience,
    ) -> Result<Self, ModelError> {
        // Another part of the program may have chosen already: any of them will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(patience.connect)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| network("cannot set up connections", error))?;
        Ok(Self(Arc::new(Shared {
            id,
            protocol,
            base,
            headers,
            client,
            patience,
            planned: Mutex::default(),
        })))
    }
}

impl<P: Protocol> Model for Live<P> {
    fn id(&self) -> &ModelId {
        &self.0.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let answer = Answer::new(Arc::clone(&self.0), &request);
        stream::unfold(answer, |mut answer| async move {
            let event = answer.next().await?;
            Some((event, answer))
        })
        .boxed()
    }
}

impl<P: Protocol> Shared<P> {
    fn plan(&self, request: &ModelRequest) -> Arc<Plan> {
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((tools, plan)) = &*planned
            && Arc::ptr_eq(tools, &request.tools)
        {
            return Arc::clone(plan);
        }
        let planner = Planner::new(self.protocol.dialect()).shape(self.protocol.shape());
        let plan = Arc::new(planner.plan(request.tools.iter()));
        *planned = Some((Arc::clone(&request.tools), Arc::clone(&plan)));
        plan
    }

    /// Sends a request until it is answered, or will not be.
    async fn send(
        &self,
        body: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Response, ModelError> {
        let mut wait = Duration::from_millis(500);
        let mut left = self.patience.retries;
        loop {
            let error = match self.send_once(body, headers).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            if left == 0 || !error.is_transient() {
                return Err(error);
            }
            left -= 1;
            sleep(error.retry_after.unwrap_or(wait).min(LONGEST_WAIT)).await;
            wait = wait.saturating_mul(2);
        }
    }

    async fn send_once(
        &self,
        body: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Response, ModelError> {
        let address = self.address()?;
        let mut request = self
            .client
            .post(address)
            .headers(self.headers.clone())
            .header("content-type", "application/json")
            .body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let response = timeout(self.patience.first, request.send())
            .await
            .map_err(|_| late("nothing was answered", self.patience.first))?
            .map_err(|error| network("the request did not get through", error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let wait = retry_after(response.headers());
        let text = beginning(response).await;
        let mut error = self.protocol.error(status.as_u16(), &text);
        if matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT) {
            error.kind = ModelErrorKind::Overloaded;
        }
        let wait = wait.or(error.retry_after);
        Err(error.retry_after(wait))
    }

    fn address(&self) -> Result<Url, ModelError> {
        let path = self.protocol.path(&self.id.name);
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).map_err(|error| {
            let message = format!("`{base}{path}` is no address");
            ModelError::new(ModelErrorKind::BadRequest, message).with_source(error)
        })
    }
}

/// An answer that is being read.
struct Answer<P> {
    shared: Arc<Shared<P>>,
    reader: Box<dyn Reader>,
    decoder: Decoder,
    headers: Vec<(&'static str, String)>,
    /// What is to be sent; taken when it is.
    body: Option<Arc<str>>,
    response: Option<Response>,
    events: VecDeque<ModelEvent>,
    failed: Option<ModelError>,
    over: bool,
}

impl<P: Protocol> Answer<P> {
    fn new(shared: Arc<Shared<P>>, request: &ModelRequest) -> Self {
        let plan = shared.plan(request);
        let body = shared.protocol.body(request, &plan, &shared.id.name);
        let body: Arc<str> = Value::Object(body).to_string().into();
        let reader = shared.protocol.reader(plan);
        Self {
            reader,
            headers: shared.protocol.headers(request),
            decoder: Decoder::new(shared.protocol.framing()),
            events: VecDeque::from([ModelEvent::Sent(Arc::clone(&body))]),
            body: Some(body),
            response: None,
            failed: None,
            over: false,
            shared,
        }
    }

    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                self.over = true;
                return Some(Err(error));
            }
            if self.over {
                return None;
            }
            if let Err(error) = self.advance().await {
                self.over = true;
                return Some(Err(error));
            }
        }
    }

    /// Sends the request, or reads one more piece of its answer.
    async fn advance(&mut self) -> Result<(), ModelError> {
        if let Some(body) = self.body.take() {
            self.response = Some(self.shared.send(&body, &self.headers).await?);
            return Ok(());
        }
        let Some(response) = &mut self.response else {
            self.over = true;
            return Ok(());
        };
        let idle = self.shared.patience.idle;
        let piece = timeout(idle, response.chunk())
            .await
            .map_err(|_| late("the answer stopped", idle))?
            .map_err(|error| network("the answer was cut off", error))?;
        let frames = match &piece {
            Some(bytes) => self.decoder.feed(bytes)?,
            None => self.decoder.end()?,
        };
        for frame in frames {
            match self.reader.frame(&frame.name, &frame.data) {
                Ok(events) => self.events.extend(events),
                // What was said before it is told first.
                Err(error) => {
                    self.failed = Some(error);
                    return Ok(());
                }
            }
        }
        if piece.is_none() {
            self.over = true;
            self.events.extend(self.reader.end()?);
        }
        Ok(())
    }
}

fn network(what: &str, error: reqwest::Error) -> ModelError {
    // The address may carry a key, and the cause says enough without it.
    ModelError::new(ModelErrorKind::Network, what).with_source(error.without_url())
}

fn late(what: &str, patience: Duration) -> ModelError {
    let message = format!("{what} within {} seconds", patience.as_secs());
    ModelError::new(ModelErrorKind::Timeout, message)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The beginning of an error's body.
async fn beginning(mut response: Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > LONGEST_ERROR {
            bytes.truncate(LONGEST_ERROR);
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
