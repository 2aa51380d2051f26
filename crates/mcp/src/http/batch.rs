//! Several messages in one array, for the revision that had them.

use axum::http::StatusCode;
use axum::response::Response;
use futures::future::join_all;
use serde_json::value::RawValue;

use super::answer::{self, refuse};
use super::post::{Incoming, notified, silent};
use crate::access::Visitor;
use crate::server::reply::Reply;
use crate::server::{Job, Kind, McpServer, Message, RpcError};

impl McpServer {
    pub(super) async fn batch(&self, incoming: Incoming<'_>, bytes: &[u8]) -> Response {
        let wrong = |message: &str| refuse(StatusCode::BAD_REQUEST, -32600, message);
        let session = match self.session(incoming.headers, &incoming.visitor) {
            Ok(session) => session,
            Err(_) => return wrong("send one message at a time"),
        };
        if !session.revision.has_batches() {
            return wrong("send one message at a time: this revision has no batches");
        }
        let Ok(parts) = serde_json::from_slice::<Vec<&RawValue>>(bytes) else {
            return refuse(StatusCode::BAD_REQUEST, -32700, "not JSON");
        };
        if parts.is_empty() || parts.len() > self.0.limits.batch {
            let most = self.0.limits.batch;
            return wrong(&format!("a batch has 1 to {most} messages"));
        }
        let mut running = Vec::new();
        for part in parts {
            match Message::read(part.get().as_bytes()) {
                Err(it) => {
                    let reply = Reply::error(it.id(), &it.error);
                    running.push(Box::pin(std::future::ready(reply)) as _);
                }
                Ok(message) => match message.kind() {
                    Kind::Response => session.answered(&message),
                    Kind::Notification => notified(&session, &message),
                    Kind::Request if message.method() == "initialize" => {
                        let error = RpcError::invalid_request("the handshake comes alone");
                        let reply = Reply::error(message.id(), &error);
                        running.push(Box::pin(std::future::ready(reply)) as _);
                    }
                    Kind::Request => running.push(self.one(&session, &message, &incoming.visitor)),
                },
            }
        }
        if running.is_empty() {
            return answer::accepted();
        }
        let replies: Vec<Vec<u8>> = join_all(running)
            .await
            .into_iter()
            .map(|reply| reply.body)
            .collect();
        let mut body = vec![b'['];
        body.extend(replies.join(&b','));
        body.push(b']');
        answer::json(StatusCode::OK, body)
    }

    fn one(
        &self,
        session: &std::sync::Arc<crate::server::Session>,
        message: &Message<'_>,
        visitor: &Visitor,
    ) -> futures::future::BoxFuture<'static, Reply> {
        let exchange = silent(self.within(session, message).of(visitor.clone()));
        match self.job(message, &exchange) {
            Job::Done(reply) => Box::pin(std::future::ready(reply)),
            Job::Work(work) => Box::pin(work.run(self.clone(), exchange)),
        }
    }
}
