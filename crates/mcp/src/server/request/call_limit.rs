//! A limit of the program on the calls of one principal.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use toolwright_auth::Principal;

use crate::server::{Request, RpcError};

/// A `tools/call` that is about to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallAttempt {
    /// The sender of the request.
    pub principal: Principal,
    /// Identifies the round of input that the request answers, where it goes on with an earlier call; a client may send the same
    /// round several times.
    pub round: Option<String>,
}

/// Why a principal may not call a tool now.
#[derive(Clone, Debug)]
pub struct CallRejection {
    /// The limit, and when the principal may call again.
    pub message: String,
    /// How long the client should wait.
    pub retry_after: Duration,
}

/// The function of [`McpServerBuilder::limit_calls`](crate::McpServerBuilder::limit_calls).
pub(crate) type CallLimitFn =
    dyn Fn(CallAttempt) -> BoxFuture<'static, Result<(), CallRejection>> + Send + Sync;

impl Request {
    /// Returns an error if the limit of the program rejects the call. A client over stdio has no principal, and no limit.
    pub(super) async fn check_call_limit(&self) -> Result<(), RpcError> {
        let (Some(limit), Some(principal)) = (&self.server.0.call_limit, &self.context.principal)
        else {
            return Ok(());
        };
        let round = self.context.input_round().map(|round| round.nonce().to_owned());
        let attempt = CallAttempt { principal: principal.clone(), round };
        limit(attempt).await.map_err(|CallRejection { message, retry_after }| {
            let seconds = retry_after.as_secs().max(1);
            RpcError::too_many_requests(message, seconds)
                .with_data(json!({ "retryAfter": seconds }))
        })
    }
}
