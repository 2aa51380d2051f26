//! The metadata document from which clients learn the authorization server (RFC 9728).

use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use toolwright_auth::Authenticator;

use super::responses;
use crate::server::McpServer;

impl McpServer {
    /// Returns a router of the paths at the root of the address, to be merged where [`router`](McpServer::router) is nested.
    ///
    /// With [`oauth`](crate::McpServerBuilder::oauth) it serves the document by which clients find the authorization server;
    /// without, it is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let server = toolwright::mcp::McpServer::builder(Invoker::new(&Registry::new()).unwrap()).build().unwrap();
    /// let app: axum::Router = axum::Router::new().nest("/mcp", server.router()).merge(server.well_known_router());
    /// ```
    pub fn well_known_router(&self) -> Router {
        let path = Authenticator::METADATA_PATH;
        if self.0.auth.resource_metadata(path).is_none() {
            return Router::new();
        }
        let handler = async |State(server): State<Self>, request: Request| {
            let response = server.metadata_response(&request.into_parts().0);
            response.unwrap_or_else(|| responses::empty(StatusCode::NOT_FOUND))
        };
        Router::new()
            .route(path, any(handler))
            .route(&format!("{path}/{{*path}}"), any(handler))
            .with_state(self.clone())
    }

    /// The response to a request for the document, if this is its address; no credential is required.
    pub(super) fn metadata_response(&self, request: &Parts) -> Option<Response> {
        let metadata = self.0.auth.resource_metadata(request.uri.path())?;
        if let Err(denied) = self.0.auth.check_host_and_origin(request) {
            return Some(responses::access_denied(&denied));
        }
        if request.method != Method::GET && request.method != Method::HEAD {
            let response = responses::empty(StatusCode::METHOD_NOT_ALLOWED);
            return Some(([(header::ALLOW, "GET, HEAD")], response).into_response());
        }
        let response = responses::json(StatusCode::OK, metadata.to_vec());
        Some(([(header::CACHE_CONTROL, "max-age=3600")], response).into_response())
    }
}
