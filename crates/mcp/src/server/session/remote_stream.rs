//! A response stream that another node has, as a client resumes it at this one.
//!
//! This node reads pages of events as fast as its client does, so nothing piles up here or on the bus.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::sleep;
use toolwright_auth::ScopedTools;
use toolwright_core::__internal::whole_millis;

use super::Session;
use super::event_id::{EventId, StreamOrigin};
use crate::server::cluster::{EventPage, EventQuery, NodeReply, NodeRequest};
use crate::server::{McpServer, RpcError, RpcResponse};

/// The longest time to wait for an event in one request.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The delay after a request has failed.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// After so many failed requests in a row the stream ends; the client can resume it.
const MAX_FAILURES: usize = 5;

const NODE_ENDED: &str =
    "the node that ran the request has ended: what the request has done is unknown";
const TOO_LARGE: &str = "the response is too large to be sent by another node: call again";

pub(crate) struct RemoteStream {
    server: McpServer,
    origin: StreamOrigin,
    /// The next page.
    query: EventQuery,
    page: VecDeque<String>,
    /// Whether there are no events after the page.
    ended: bool,
    /// The response of the request if its node has ended.
    lost_response: Option<RpcResponse>,
    failures: usize,
}

pub(crate) enum RemoteItem {
    /// An event with this id.
    Message(String, String),
    /// The last item if the node of the stream has ended.
    Response(RpcResponse),
    /// There was no event for a while.
    Idle,
}

impl McpServer {
    /// Opens a stream of another node after an event; `None` if it cannot be resumed.
    pub(crate) async fn open_remote_stream(
        &self,
        session: &Session,
        event: EventId,
        tools: &ScopedTools,
    ) -> Result<Option<RemoteStream>, RpcError> {
        let (Some(cluster), Some(origin)) = (&self.0.cluster, event.origin) else {
            return Ok(None);
        };
        let wait = self.0.limits.keep_alive_interval.min(MAX_WAIT);
        let mut query = EventQuery {
            session: session.id.as_str().to_owned(),
            stream: event.stream,
            index: event.position,
            scopes: tools.scopes().cloned(),
            wait_ms: 0,
        };
        let first = NodeRequest::ReadEvents(query.clone());
        let reply = cluster.ask(&origin.node, first, Duration::ZERO).await?;
        query.wait_ms = whole_millis(wait);
        let mut stream = RemoteStream {
            server: self.clone(),
            origin,
            query,
            page: VecDeque::new(),
            ended: false,
            lost_response: None,
            failures: 0,
        };
        match reply {
            Some(NodeReply::Events(page)) => stream.add(page),
            Some(NodeReply::TooLarge) => stream.end_lost(TOO_LARGE),
            Some(_) => return Ok(None),
            None if stream.origin.request.is_some() => stream.end_lost(NODE_ENDED),
            None => return Ok(None),
        }
        Ok(Some(stream))
    }
}

impl RemoteStream {
    /// Waits for the next item; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<RemoteItem> {
        loop {
            if let Some(message) = self.page.pop_front() {
                let position = self.query.index - self.page.len();
                let origin = Some(self.origin.clone());
                let id = EventId { stream: self.query.stream, position, origin };
                return Some(RemoteItem::Message(id.to_string(), message));
            }
            if self.ended {
                return self.lost_response.take().map(RemoteItem::Response);
            }
            if !self.read_page().await {
                return Some(RemoteItem::Idle);
            }
        }
    }

    /// Reads the next page; returns false if it is empty.
    async fn read_page(&mut self) -> bool {
        let Some(cluster) = &self.server.0.cluster else {
            self.ended = true;
            return true;
        };
        let request = NodeRequest::ReadEvents(self.query.clone());
        let wait = Duration::from_millis(self.query.wait_ms);
        match cluster.ask(&self.origin.node, request, wait).await {
            Ok(Some(NodeReply::Events(page))) => {
                self.failures = 0;
                let is_empty = page.events.is_empty() && !page.ended;
                self.add(page);
                !is_empty
            }
            Ok(Some(NodeReply::TooLarge)) => {
                self.end_lost(TOO_LARGE);
                true
            }
            // The node has ended, or has dropped the stream.
            Ok(_) => {
                self.end_lost(NODE_ENDED);
                true
            }
            Err(_) => {
                self.failures += 1;
                self.ended = self.failures >= MAX_FAILURES;
                sleep(RETRY_DELAY).await;
                self.ended
            }
        }
    }

    fn add(&mut self, page: EventPage) {
        // The index of the event after the page.
        self.query.index = page.first + page.events.len();
        self.ended = page.ended;
        self.page = page.events.into();
    }

    /// Ends the stream with an error: otherwise the client would wait for a response that never comes.
    fn end_lost(&mut self, reason: &str) {
        self.ended = true;
        let request = self.origin.request.as_ref();
        self.lost_response =
            request.map(|request| RpcResponse::error(request, &RpcError::internal(reason)));
    }
}
