//! Work and what it has to say meanwhile in, one step after the other out: the same for every transport.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use futures::future::BoxFuture;

use crate::server::request::request_context::RequestContext;
use crate::server::rpc::response::RpcResponse;
use crate::server::session::in_flight::InFlightGuard;
use toolwright_auth::ScopedTools;

/// A request that is being answered. Dropping it cancels it.
pub(crate) struct ResponseStream {
    operation: BoxFuture<'static, RpcResponse>,
    response: Option<RpcResponse>,
    context: Arc<RequestContext>,
    in_flight: Option<InFlightGuard>,
}

/// What happens next.
pub(crate) enum StreamItem {
    /// A message that goes before the response.
    Message(String),
    /// The response; nothing follows.
    Response(RpcResponse),
    /// The client has cancelled it, and waits for nothing any more.
    Cancelled,
}

impl ResponseStream {
    pub(crate) fn new(
        work: impl Future<Output = RpcResponse> + Send + 'static,
        exchange: Arc<RequestContext>,
        underway: Option<InFlightGuard>,
    ) -> Self {
        Self {
            operation: Box::pin(work),
            response: None,
            context: exchange,
            in_flight: underway,
        }
    }

    /// Returns what whoever asked reaches, where not everybody reaches the same.
    pub(crate) fn scoped_tools(&self) -> Option<Arc<ScopedTools>> {
        let visitor = self.context.principal.as_ref();
        visitor.map(|visitor| Arc::clone(visitor.scoped_tools()))
    }

    /// Waits for the next step; not to be called after the last.
    pub(crate) async fn next(&mut self) -> StreamItem {
        let Self {
            operation: work,
            response: reply,
            context: exchange,
            in_flight: underway,
        } = self;
        let step = poll_fn(|cx| {
            if reply.is_none()
                && let Poll::Ready(done) = work.as_mut().poll(cx)
            {
                *reply = Some(done);
            }
            // Whatever was said before the response goes before it.
            if let Poll::Ready(message) = exchange.poll_message(cx.waker()) {
                return Poll::Ready(StreamItem::Message(message));
            }
            match reply.take() {
                Some(done) => Poll::Ready(StreamItem::Response(done)),
                None => Poll::Pending,
            }
        });
        let cancelled = async {
            match underway {
                Some(underway) => underway.token.cancelled().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            step = step => step,
            () = cancelled => StreamItem::Cancelled,
        }
    }
}
