//! [`Tower`]: tower layers around the calls of tools.
//!
//! A tower service is `'static` and cannot hold the borrowed [`Next`] of a call: it holds a [`TowerNext`], which
//! sends a request over a channel to the layer's own future, and that runs [`Next`].

use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot};
use tower::{BoxError, Service, ServiceExt as _};

use super::{Invocation, Layer, LayerPosition, Next, timeout};
use crate::call::context::Caller;
use crate::call::result::ToolResult;
use crate::call::{ToolCall, ToolName};
use crate::error::ToolError;

/// A tower layer around calls; its service is made once and cloned for each call.
///
/// An error of the service becomes a failed result. Wrap a service that is not `Clone`, such as tower's
/// rate limit, in tower's `Buffer`.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use toolwright::{Registry, Tower};
/// use tower::ServiceBuilder;
///
/// let layers = ServiceBuilder::new().concurrency_limit(2).timeout(Duration::from_secs(5));
/// let view = Registry::new().all().layer(Tower::new(layers));
/// ```
pub struct Tower<S> {
    service: Mutex<S>,
    position: LayerPosition,
}

impl<S> Tower<S> {
    /// Wraps the run itself, within each retry.
    pub fn new<L: tower::Layer<TowerNext, Service = S>>(layer: L) -> Self {
        Self { service: Mutex::new(layer.layer(TowerNext)), position: LayerPosition::Inner }
    }

    /// Sets the position among the layers.
    #[must_use]
    pub fn at_position(mut self, position: LayerPosition) -> Self {
        self.position = position;
        self
    }
}

/// The request of a tower service; a clone is the same call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TowerCall {
    /// The call as the model sent it.
    pub call: ToolCall,
    /// The name of the tool that was found.
    pub tool: ToolName,
    /// The user or program that the call is made for.
    pub caller: Caller,
    run_requests: mpsc::UnboundedSender<oneshot::Sender<ToolResult>>,
}

/// The inner layers and the tool as a tower service; calling it again runs the tool again.
#[derive(Clone, Copy, Debug)]
pub struct TowerNext;

impl Service<TowerCall> for TowerNext {
    type Response = ToolResult;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<ToolResult, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: TowerCall) -> Self::Future {
        Box::pin(async move {
            let (response_sender, response) = oneshot::channel();
            // If the call was dropped, sending fails and drops the sender, and `response` resolves to an error.
            drop(call.run_requests.send(response_sender));
            Ok(response.await.unwrap_or_else(|_| timeout::cancelled_result()))
        })
    }
}

impl<S> Layer for Tower<S>
where
    S: Service<TowerCall, Response = ToolResult> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    fn position(&self) -> LayerPosition {
        self.position
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        let service = service.clone();
        Box::pin(async move {
            let (run_requests, mut run_receiver) = mpsc::unbounded_channel();
            let mut response = pin!(service.oneshot(TowerCall {
                call: call.call().clone(),
                tool: call.tool().name.clone(),
                caller: call.caller().clone(),
                run_requests,
            }));
            let mut running = FuturesUnordered::new();
            loop {
                tokio::select! {
                    biased;
                    result = &mut response => {
                        return result.unwrap_or_else(|error| ToolError::from(error.into()).into());
                    }
                    Some(sender) = run_receiver.recv() => running.push(run_next(next, sender)),
                    Some(()) = running.next() => {}
                }
            }
        })
    }
}

/// Runs the inner layers and the tool, unless the service drops its request.
async fn run_next(next: Next<'_>, mut response_sender: oneshot::Sender<ToolResult>) {
    let result = tokio::select! {
        biased;
        result = next.run() => result,
        () = response_sender.closed() => return,
    };
    drop(response_sender.send(result));
}
