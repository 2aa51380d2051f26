//! Streamable HTTP: one address, POST for requests, GET and DELETE for those who have sessions.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use axum::routing::any;
use axum::{BoxError, Router};
use tokio::sync::Semaphore;

use crate::server::{Limits, McpServer};

mod answer;
mod batch;
mod guard;
mod headers;
mod post;
mod serve;
mod session;
mod sessions;
mod sse;

pub use serve::Bound;

/// What all connections share.
pub(crate) struct Shared {
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    sessions: sessions::Sessions,
}

impl Shared {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            requests: permits(limits.requests),
            streams: permits(limits.streams),
            sessions: sessions::Sessions::default(),
        }
    }
}

fn permits(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))
}

impl McpServer {
    /// Makes a router that answers at `/`: nest it wherever the server should be.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let server = toolwright_mcp::McpServer::builder(Invoker::new(&Registry::new()).unwrap()).build().unwrap();
    /// let app: axum::Router = axum::Router::new().nest("/mcp", server.router());
    /// ```
    pub fn router(&self) -> Router {
        let handler =
            async |State(server): State<Self>, request: Request| server.handle(request).await;
        Router::new()
            .route("/", any(handler))
            .with_state(self.clone())
    }

    /// Answers one HTTP request, whatever its path.
    pub(crate) async fn handle<B>(&self, request: axum::http::Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let caller = match guard::admit(self, request.headers(), request.uri()) {
            Ok(caller) => caller,
            Err(refusal) => return refusal,
        };
        match *request.method() {
            Method::POST => self.post(request, caller).await,
            Method::GET => self.get(request.headers(), &caller),
            Method::DELETE => self.delete(request.headers(), &caller),
            _ => answer::not_allowed(),
        }
    }
}

/// Makes a response without content.
fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    response
}
