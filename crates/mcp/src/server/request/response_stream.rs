//! An operation and the messages that it sends meanwhile, as one stream for every transport.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use futures::future::BoxFuture;
use toolwright_auth::ScopedTools;

use crate::server::{InFlightGuard, RequestContext, RpcResponse};

/// The messages and the response of a request. Dropping it cancels the request.
pub(crate) struct ResponseStream {
    operation: BoxFuture<'static, RpcResponse>,
    response: Option<RpcResponse>,
    context: Arc<RequestContext>,
    in_flight: Option<InFlightGuard>,
}

pub(crate) enum StreamItem {
    /// A notification, or a request to the client.
    Message(String),
    /// The last item.
    Response(RpcResponse),
    /// The client has cancelled the request and expects no response.
    Cancelled,
}

impl ResponseStream {
    pub(crate) fn new(
        operation: BoxFuture<'static, RpcResponse>,
        context: Arc<RequestContext>,
        in_flight: Option<InFlightGuard>,
    ) -> Self {
        Self { operation, response: None, context, in_flight }
    }

    /// Ends the stream when the request is cancelled.
    pub(crate) fn cancel_with(&mut self, in_flight: InFlightGuard) {
        self.in_flight = Some(in_flight);
    }

    /// Returns the tools of the request's principal.
    pub(crate) fn scoped_tools(&self) -> Option<Arc<ScopedTools>> {
        let principal = self.context.principal.as_ref();
        principal.map(|principal| Arc::clone(principal.scoped_tools()))
    }

    /// Waits for the next item; must not be called after the last one.
    pub(crate) async fn next(&mut self) -> StreamItem {
        let Self { operation, response, context, in_flight } = self;
        let item = poll_fn(|cx| {
            if response.is_none()
                && let Poll::Ready(done) = operation.as_mut().poll(cx)
            {
                *response = Some(done);
            }
            // Messages that were sent before the operation ended go before its response.
            if let Poll::Ready(message) = context.poll_message(cx.waker()) {
                return Poll::Ready(StreamItem::Message(message));
            }
            match response.take() {
                Some(done) => Poll::Ready(StreamItem::Response(done)),
                None => Poll::Pending,
            }
        });
        let cancelled = async {
            match in_flight {
                Some(request) => request.token.cancelled().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            item = item => item,
            () = cancelled => StreamItem::Cancelled,
        }
    }
}
