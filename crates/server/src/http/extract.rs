//! The extractors of axum, whose errors are JSON here as all others are.

use std::error::Error;

use axum::extract::{self, FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::http::error_response::ErrorResponse;

/// The parameters of the query.
pub(crate) struct Query<T>(pub(crate) T);

/// The parameters of the path.
pub(crate) struct Path<T>(pub(crate) T);

/// The upgrade of a connection to a WebSocket.
pub(crate) struct WebSocketUpgrade(pub(crate) extract::ws::WebSocketUpgrade);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let query = extract::Query::from_request_parts(parts, state).await;
        query.map(|query| Self(query.0)).map_err(|error| invalid("the query", &error))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let path = <extract::Path<T> as FromRequestParts<S>>::from_request_parts(parts, state);
        path.await.map(|path| Self(path.0)).map_err(|error| invalid("the path", &error))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send + 'static> OptionalFromRequestParts<S> for Path<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &S,
    ) -> Result<Option<Self>, ErrorResponse> {
        let path =
            <extract::Path<T> as OptionalFromRequestParts<S>>::from_request_parts(parts, state);
        let path = path.await.map_err(|error| invalid("the path", &error))?;
        Ok(path.map(|path| Self(path.0)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for WebSocketUpgrade {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let upgrade = extract::ws::WebSocketUpgrade::from_request_parts(parts, state).await;
        upgrade.map(Self).map_err(|error| invalid("the upgrade", &error))
    }
}

/// The error of a request whose part cannot be read.
fn invalid(part: &str, error: &dyn Error) -> ErrorResponse {
    // The innermost error names the parameter; the others only that there is one.
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    ErrorResponse::bad_request(format!("{part}: {innermost}"))
}
