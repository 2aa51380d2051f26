//! The login of the program that embeds a server: the head of a request in, an identity out.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::request::Parts;
use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::http::access_denied::AccessDenied;
use crate::http::identity::Identity;
use crate::http::verify_error::VerifyError;

/// How long a login or a verifier of tokens may take.
pub(crate) const VERIFY_TIMEOUT: Duration = Duration::from_secs(30);

/// The function of [`AuthenticatorBuilder::login`](crate::AuthenticatorBuilder::login).
pub(crate) struct Login(Box<LoginFn>);

type LoginFn =
    dyn Fn(Parts) -> BoxFuture<'static, Result<Option<Identity>, VerifyError>> + Send + Sync;

impl Login {
    pub(crate) fn new<F, Fut>(login: F) -> Self
    where
        F: Fn(Parts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<Identity>, VerifyError>> + Send + 'static,
    {
        Self(Box::new(move |head| Box::pin(login(head))))
    }

    /// Returns the identity of a request; `None` if it is not logged in.
    pub(crate) async fn identify(&self, head: &Parts) -> Result<Option<Identity>, AccessDenied> {
        let identified = timeout(VERIFY_TIMEOUT, (self.0)(head.clone())).await;
        let timed_out = || Err(VerifyError::unavailable("the login took too long"));
        match identified.unwrap_or_else(|_| timed_out()) {
            Ok(identity) => Ok(identity),
            Err(VerifyError::InvalidToken { reason }) => {
                Err(AccessDenied::new(StatusCode::UNAUTHORIZED, reason))
            }
            Err(VerifyError::Unavailable { reason }) => {
                tracing::error!(reason, "the login fails");
                Err(AccessDenied::unavailable())
            }
        }
    }
}
