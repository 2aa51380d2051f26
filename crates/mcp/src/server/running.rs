//! Work and what it has to say meanwhile in, one step after the other out: the same for every transport.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use futures::future::BoxFuture;

use super::calls::Underway;
use super::exchange::Exchange;
use super::reply::Reply;
use crate::access::Reach;

/// A request that is being answered. Dropping it cancels it.
pub(crate) struct Running {
    work: BoxFuture<'static, Reply>,
    reply: Option<Reply>,
    exchange: Arc<Exchange>,
    underway: Option<Underway>,
}

/// What happens next.
pub(crate) enum Step {
    /// A message that goes before the response.
    Message(String),
    /// The response; nothing follows.
    Done(Reply),
    /// The client has cancelled it, and waits for nothing any more.
    Cancelled,
}

impl Running {
    pub(crate) fn new(
        work: impl Future<Output = Reply> + Send + 'static,
        exchange: Arc<Exchange>,
        underway: Option<Underway>,
    ) -> Self {
        Self {
            work: Box::pin(work),
            reply: None,
            exchange,
            underway,
        }
    }

    /// Returns what whoever asked reaches, where not everybody reaches the same.
    pub(crate) fn reach(&self) -> Option<Arc<Reach>> {
        let visitor = self.exchange.visitor.as_ref();
        visitor.map(|visitor| Arc::clone(&visitor.reach))
    }

    /// Waits for the next step; not to be called after the last.
    pub(crate) async fn next(&mut self) -> Step {
        let Self {
            work,
            reply,
            exchange,
            underway,
        } = self;
        let step = poll_fn(|cx| {
            if reply.is_none()
                && let Poll::Ready(done) = work.as_mut().poll(cx)
            {
                *reply = Some(done);
            }
            // Whatever was said before the response goes before it.
            if let Poll::Ready(message) = exchange.poll_message(cx.waker()) {
                return Poll::Ready(Step::Message(message));
            }
            match reply.take() {
                Some(done) => Poll::Ready(Step::Done(done)),
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
            () = cancelled => Step::Cancelled,
        }
    }
}
