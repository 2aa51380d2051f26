//! Several messages in one array, for the revision that had them.

use axum::http::StatusCode;
use axum::response::Response;
use futures::future::join_all;
use serde_json::value::RawValue;

use super::post::{PostRequest, handle_notification, without_streaming};
use super::responses::{self, rpc_error};
use crate::server::rpc::response::RpcResponse;
use crate::server::{Dispatch, McpServer, MessageKind, RpcError, RpcMessage};
use toolwright_auth::Principal;

impl McpServer {
    pub(super) async fn post_batch(&self, incoming: PostRequest<'_>, bytes: &[u8]) -> Response {
        let wrong = |message: &str| rpc_error(StatusCode::BAD_REQUEST, -32600, message);
        let session = match self.find_session(incoming.headers, &incoming.principal) {
            Ok(session) => session,
            Err(_) => return wrong("send one message at a time"),
        };
        if !session.revision.has_batches() {
            return wrong("send one message at a time: this revision has no batches");
        }
        let Ok(parts) = serde_json::from_slice::<Vec<&RawValue>>(bytes) else {
            return rpc_error(StatusCode::BAD_REQUEST, -32700, "not JSON");
        };
        if parts.is_empty() || parts.len() > self.0.limits.max_batch {
            let most = self.0.limits.max_batch;
            return wrong(&format!("a batch has 1 to {most} messages"));
        }
        let mut running = Vec::new();
        for part in parts {
            match RpcMessage::parse(part.get().as_bytes()) {
                Err(it) => {
                    let reply = RpcResponse::error(it.id(), &it.error);
                    running.push(Box::pin(std::future::ready(reply)) as _);
                }
                Ok(message) => match message.kind() {
                    MessageKind::Response => session.handle_response(&message),
                    MessageKind::Notification => handle_notification(&session, &message),
                    MessageKind::Request if message.method() == "initialize" => {
                        let error = RpcError::invalid_request("the handshake comes alone");
                        let reply = RpcResponse::error(message.id(), &error);
                        running.push(Box::pin(std::future::ready(reply)) as _);
                    }
                    MessageKind::Request => {
                        running.push(self.run_batch_item(&session, &message, &incoming.principal))
                    }
                },
            }
        }
        if running.is_empty() {
            return responses::accepted();
        }
        let replies: Vec<Vec<u8>> = join_all(running)
            .await
            .into_iter()
            .map(|reply| reply.body)
            .collect();
        let mut body = vec![b'['];
        body.extend(replies.join(&b','));
        body.push(b']');
        responses::json(StatusCode::OK, body)
    }

    fn run_batch_item(
        &self,
        session: &std::sync::Arc<crate::server::Session>,
        message: &RpcMessage<'_>,
        visitor: &Principal,
    ) -> futures::future::BoxFuture<'static, RpcResponse> {
        let exchange = without_streaming(
            self.session_context(session, message)
                .with_principal(visitor.clone()),
        );
        match self.dispatch(message, &exchange) {
            Dispatch::Response(reply) => Box::pin(std::future::ready(reply)),
            Dispatch::Operation(work) => Box::pin(work.run(self.clone(), exchange)),
        }
    }
}
