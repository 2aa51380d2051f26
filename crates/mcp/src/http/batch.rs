//! Batches: several messages in one array, in the one revision that has them.

use std::future::ready;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use futures::future::{BoxFuture, join_all};
use serde_json::value::RawValue;
use toolwright_auth::Principal;

use super::post::PostRequest;
use super::responses::{accepted, json, rpc_error};
use crate::server::{
    Dispatch, McpServer, MessageKind, RequestContext, RpcError, RpcMessage, RpcResponse, Session,
};

impl McpServer {
    pub(super) async fn post_batch(
        &self,
        incoming: PostRequest<'_>,
        bytes: &[u8],
    ) -> Result<Response, Response> {
        let reject = |message: &str| rpc_error(StatusCode::BAD_REQUEST, -32600, message);
        let session = self.find_session(incoming.headers, &incoming.principal).await;
        let session = session.map_err(|rejection| match rejection.status() {
            StatusCode::SERVICE_UNAVAILABLE => rejection,
            _ => reject("send one message at a time"),
        })?;
        if !session.revision.has_batches() {
            return Err(reject("send one message at a time: this revision has no batches"));
        }
        let parts: Vec<&RawValue> = serde_json::from_slice(bytes)
            .map_err(|_| rpc_error(StatusCode::BAD_REQUEST, -32700, "not JSON"))?;
        let max_batch = self.0.limits.max_batch;
        if parts.is_empty() || parts.len() > max_batch {
            return Err(reject(&format!("a batch has 1 to {max_batch} messages")));
        }
        let mut responses: Vec<BoxFuture<'static, RpcResponse>> = Vec::new();
        for part in parts {
            match RpcMessage::parse(part.get().as_bytes()) {
                Err(invalid) => {
                    let response = RpcResponse::error(invalid.id(), &invalid.error);
                    responses.push(Box::pin(ready(response)));
                }
                Ok(message) => match message.kind() {
                    MessageKind::Response => self.deliver_answer(&session, &message).await?,
                    MessageKind::Notification => self.handle_notification(&session, &message)?,
                    MessageKind::Request if message.method() == "initialize" => {
                        let error = RpcError::invalid_request("the handshake comes alone");
                        let response = RpcResponse::error(message.id(), &error);
                        responses.push(Box::pin(ready(response)));
                    }
                    MessageKind::Request => {
                        responses.push(self.run_batch_item(&session, &message, &incoming.principal))
                    }
                },
            }
        }
        if responses.is_empty() {
            return Ok(accepted());
        }
        let responses = join_all(responses).await.into_iter();
        let bodies: Vec<Vec<u8>> = responses.map(|response| response.body).collect();
        let mut body = vec![b'['];
        body.extend(bodies.join(&b','));
        body.push(b']');
        Ok(json(StatusCode::OK, body))
    }

    fn run_batch_item(
        &self,
        session: &Arc<Session>,
        message: &RpcMessage<'_>,
        principal: &Principal,
    ) -> BoxFuture<'static, RpcResponse> {
        let context = RequestContext::in_session(session).with_progress(message);
        let mut context = context.with_principal(principal.clone());
        context.can_stream = false;
        let context = Arc::new(context);
        match self.dispatch(message, &context) {
            Dispatch::Response(response) => Box::pin(ready(response)),
            Dispatch::Operation(operation) => operation,
        }
    }
}
