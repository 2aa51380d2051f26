//! Streamable HTTP: one address, POST for requests, GET and DELETE for those who have sessions.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::any;
use axum::{BoxError, Router};
use tokio::sync::Semaphore;
use toolwright_core::Caller;

use crate::auth::Principal;
use crate::server::{McpLimits, McpServer};

mod batch;
mod bearer_auth;
mod headers;
mod post;
mod request_auth;
mod resource_metadata;
mod responses;
mod serve;
mod session_routes;
mod session_store;
mod sse;

pub use request_auth::AccessDenied;
pub use serve::BoundMcpServer;

/// What all connections share.
pub(crate) struct HttpState {
    request_permits: Arc<Semaphore>,
    stream_permits: Arc<Semaphore>,
    sessions: session_store::SessionStore,
}

impl HttpState {
    pub(crate) fn new(limits: &McpLimits) -> Self {
        Self {
            request_permits: semaphore(limits.max_requests),
            stream_permits: semaphore(limits.max_streams),
            sessions: session_store::SessionStore::default(),
        }
    }
}

fn semaphore(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))
}

impl McpServer {
    /// Makes a router that answers at `/`: nest it wherever the server should be.
    ///
    /// Without tokens and OAuth only clients on this machine are let in. Serve it with
    /// `into_make_service_with_connect_info::<SocketAddr>()`, so that the server knows where requests come from.
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
    /// When the request is not let in: 403 for its host, origin, scopes or, without credentials, for where it comes from; 401
    /// for its token; 400 where it cannot be read.
    pub async fn authenticate_request(&self, request: &Parts) -> Result<Principal, AccessDenied> {
        request_auth::authenticate_request(
            self,
            &request.headers,
            &request.uri,
            peer_address(&request.extensions),
        )
        .await
    }

    /// Checks once more on whose behalf a connection is used, by the `Authorization` header that it was opened with.
    ///
    /// # Errors
    ///
    /// When the credential is not good any more.
    pub async fn authenticate(
        &self,
        authorization: Option<&HeaderValue>,
    ) -> Result<Principal, AccessDenied> {
        let headers = authorization.map(|value| (header::AUTHORIZATION, value.clone()));
        let headers = HeaderMap::from_iter(headers);
        request_auth::authenticate(self, &headers, &Uri::from_static("/")).await
    }

    /// Returns the operator of this server, who reaches everything: for what the program itself does.
    pub fn operator(&self) -> Principal {
        Principal::unrestricted(Caller::default(), false, &self.0.all_tools)
    }

    /// Returns true if a request may be the operator's: there are no credentials, or one that several people share.
    pub fn has_operator(&self) -> bool {
        self.0.oauth.is_none() && self.0.tokens.has_shared()
    }

    /// Lets in a subject without its credential, with the scopes and the expiry that its [`Visitor`] had, by the rules of
    /// today: to finish what was begun in its name.
    ///
    /// # Errors
    ///
    /// When the credential has expired since, or the server knows no subjects any more.
    pub fn restore_principal(
        &self,
        subject: &str,
        scopes: impl IntoIterator<Item = String>,
        expires: Option<SystemTime>,
    ) -> Result<Principal, AccessDenied> {
        let scopes: BTreeSet<String> = scopes.into_iter().collect();
        let Some(door) = &self.0.oauth else {
            // A token of a caller's own has neither: what was limited then is not unlimited now.
            let caller = self.0.tokens.find_caller(subject);
            let caller = caller.filter(|_| scopes.is_empty() && expires.is_none());
            let caller = caller.ok_or_else(|| {
                let message = format!("nobody is known here as `{subject}`");
                AccessDenied::new(StatusCode::UNAUTHORIZED, message)
            })?;
            return Ok(Principal::unrestricted(caller, true, &self.0.all_tools));
        };
        let whole = &self.0.all_tools.invoker;
        let admitted = door.restore(whole, subject.to_owned(), scopes, expires);
        admitted.map_err(|refusal| bearer_auth::access_denied(door, refusal))
    }

    /// Tells whether everybody is let in who can reach the address, so that only this machine may.
    pub fn allows_anonymous(&self) -> bool {
        self.0.oauth.is_none() && self.0.tokens.is_empty()
    }

    /// Answers one HTTP request, whatever its path.
    pub(crate) async fn handle<B>(&self, request: axum::http::Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let mut request = request;
        let peer = peer_address(request.extensions());
        let admitted =
            request_auth::authenticate_request(self, request.headers(), request.uri(), peer).await;
        // From here on nobody needs the token, and nobody can pass it on.
        request.headers_mut().remove(header::AUTHORIZATION);
        let visitor = match admitted {
            Ok(visitor) => visitor,
            Err(refusal) => return refusal.into_rpc_response(),
        };
        match *request.method() {
            Method::POST => self.post(request, visitor).await,
            Method::GET => self.get_session_stream(request.headers(), visitor),
            Method::DELETE => self.delete_session(request.headers(), &visitor),
            _ => responses::method_not_allowed(),
        }
    }
}

/// The address of the client, if the listener provided it.
fn peer_address(extensions: &Extensions) -> Option<SocketAddr> {
    let peer: Option<&ConnectInfo<SocketAddr>> = extensions.get();
    peer.map(|ConnectInfo(peer)| *peer)
}

/// Makes a response without content.
fn empty_response(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    response
}
