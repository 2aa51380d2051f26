//! Streamable HTTP: one address, POST for requests, GET and DELETE for sessions.

use std::sync::Arc;

use axum::body::{Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::response::Response;
use axum::routing::any;
use axum::{BoxError, Router};
use tokio::sync::Semaphore;

use crate::server::{McpLimits, McpServer};

mod batch;
pub(crate) mod connections;
mod headers;
mod post;
mod resource_metadata;
mod responses;
mod serve;
mod session_routes;
mod sse;
mod strict_lines;

pub use serve::BoundMcpServer;

/// The state that all connections share.
pub(crate) struct HttpState {
    request_permits: Arc<Semaphore>,
    stream_permits: Arc<Semaphore>,
}

impl HttpState {
    pub(crate) fn new(limits: &McpLimits) -> Self {
        Self {
            request_permits: semaphore(limits.max_requests),
            stream_permits: semaphore(limits.max_streams),
        }
    }
}

fn semaphore(permits: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)))
}

impl McpServer {
    /// Returns a router with the server at `/`, to be nested in another.
    ///
    /// Without tokens and OAuth only requests of this machine are accepted. Serve the router with
    /// `into_make_service_with_connect_info::<SocketAddr>()`, so that the server knows the peer address.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let server = toolwright::mcp::McpServer::builder(Invoker::new(&Registry::new()).unwrap()).build().unwrap();
    /// let app: axum::Router = axum::Router::new().nest("/mcp", server.router());
    /// ```
    pub fn router(&self) -> Router {
        let handler =
            async |State(server): State<Self>, request: Request| server.handle(request).await;
        Router::new().route("/", any(handler)).with_state(self.clone())
    }

    /// Handles a request, whatever its path.
    #[doc(hidden)]
    pub async fn handle<B>(&self, request: axum::http::Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let (mut head, body) = request.into_parts();
        let authenticated = self.0.auth.authenticate_request(&mut head).await;
        // Nothing after this needs the token, and nothing can pass it on.
        head.headers.remove(header::AUTHORIZATION);
        let principal = match authenticated {
            Ok(principal) => principal,
            Err(denied) => return responses::access_denied(&denied),
        };
        self.join_in_background();
        let request = axum::http::Request::from_parts(head, body);
        let response = match *request.method() {
            Method::POST => self.post(request, principal).await,
            Method::GET => self.get_session_stream(request.headers(), principal).await,
            Method::DELETE => self.delete_session(request.headers(), &principal).await,
            _ => Err(responses::method_not_allowed()),
        };
        response.unwrap_or_else(|rejection| rejection)
    }
}
