//! Streamable HTTP: one address, POST for requests, GET and DELETE for those who have sessions.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::any;
use axum::{BoxError, Router};
use tokio::sync::Semaphore;

use crate::access::Visitor;
use crate::server::{Limits, McpServer};

mod answer;
mod batch;
mod bearer;
mod guard;
mod headers;
mod metadata;
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

    /// Checks where a request comes from and on whose behalf, as before all that this server answers itself.
    ///
    /// For whoever serves more than MCP at one address: one guard, one set of tokens, hosts and origins. What the visitor
    /// calls goes through [`Visitor::invoker`], so that scopes hold there too.
    ///
    /// # Errors
    ///
    /// The answer to a request that is not let in: 403 for its host, origin or scopes, 401 for its token.
    pub async fn admit(&self, headers: &HeaderMap, uri: &Uri) -> Result<Visitor, Box<Response>> {
        guard::admit(self, headers, uri).await.map_err(Box::new)
    }

    /// Tells whether everybody is let in who can reach the address, so that only this machine may.
    pub fn is_open(&self) -> bool {
        self.0.door.is_none() && self.0.tokens.is_empty()
    }

    /// Answers one HTTP request, whatever its path.
    pub(crate) async fn handle<B>(&self, request: axum::http::Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let mut request = request;
        let admitted = guard::admit(self, request.headers(), request.uri()).await;
        // From here on nobody needs the token, and nobody can pass it on.
        request.headers_mut().remove(header::AUTHORIZATION);
        let visitor = match admitted {
            Ok(visitor) => visitor,
            Err(refusal) => return refusal,
        };
        match *request.method() {
            Method::POST => self.post(request, visitor).await,
            Method::GET => self.get(request.headers(), visitor),
            Method::DELETE => self.delete(request.headers(), &visitor),
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
