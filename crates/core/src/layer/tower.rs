//! Layers that were written for tower.
//!
//! A tower service keeps its state for ever and so cannot hold what one call borrows: it holds a
//! [`TowerNext`], which asks whoever waits for the call to go on with it.

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

/// A tower layer around calls; its service is made once, and cloned for each call.
///
/// An error of the service is a failed result. A service that is not `Clone`, such as tower's rate
/// limit, goes behind tower's `Buffer`.
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
    /// Stands around the run itself, within each retry.
    pub fn new<L: tower::Layer<TowerNext, Service = S>>(layer: L) -> Self {
        Self {
            service: Mutex::new(layer.layer(TowerNext)),
            position: LayerPosition::Inner,
        }
    }

    /// Sets where it stands.
    #[must_use]
    pub fn at_position(mut self, place: LayerPosition) -> Self {
        self.position = place;
        self
    }
}

/// The call that a tower service stands around; a clone of it is the same call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TowerCall {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The tool's own name.
    pub tool: ToolName,
    /// On whose behalf the call is made.
    pub caller: Caller,
    run_requests: mpsc::UnboundedSender<oneshot::Sender<ToolResult>>,
}

/// The rest of the way as a tower service; calling it again runs the tool again.
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
            let (answer, answered) = oneshot::channel();
            // If nobody waits for the call any more, the answer's other end is dropped here.
            drop(call.run_requests.send(answer));
            Ok(answered
                .await
                .unwrap_or_else(|_| timeout::cancelled_result()))
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
            let (run_requests, mut asked) = mpsc::unbounded_channel();
            let mut answer = pin!(service.oneshot(TowerCall {
                call: call.call().clone(),
                tool: call.tool().name.clone(),
                caller: call.caller().clone(),
                run_requests,
            }));
            let mut running = FuturesUnordered::new();
            loop {
                tokio::select! {
                    biased;
                    answer = &mut answer => {
                        return answer.unwrap_or_else(|error| ToolError::from(error.into()).into());
                    }
                    Some(answer) = asked.recv() => running.push(run_next(next, answer)),
                    Some(()) = running.next() => {}
                }
            }
        })
    }
}

/// Runs the rest of the way, unless the service gives it up.
async fn run_next(next: Next<'_>, mut answer: oneshot::Sender<ToolResult>) {
    let result = tokio::select! {
        biased;
        result = next.run() => result,
        () = answer.closed() => return,
    };
    drop(answer.send(result));
}
