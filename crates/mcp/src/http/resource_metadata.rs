//! Where clients learn who makes tokens for this server: RFC 9728.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::any;

use super::{empty_response, responses};
use crate::server::McpServer;

/// Where the document is, for whoever does not know the path of the resource.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

impl McpServer {
    /// Makes a router of what has to be answered at the root of the address: merge it where [`router`](McpServer::router) is
    /// nested.
    ///
    /// With [`oauth`](crate::McpServerBuilder::oauth) that is the document by which clients find the authorization server;
    /// without, nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let server = toolwright_mcp::McpServer::builder(Invoker::new(&Registry::new()).unwrap()).build().unwrap();
    /// let app: axum::Router = axum::Router::new().nest("/mcp", server.router()).merge(server.well_known());
    /// ```
    pub fn well_known_router(&self) -> Router {
        if self.0.auth.resource_metadata(METADATA_PATH).is_none() {
            return Router::new();
        }
        let handler = async |State(server): State<Self>, request: Request| {
            let found =
                server.metadata_response(request.method(), request.headers(), request.uri());
            found.unwrap_or_else(|| empty_response(StatusCode::NOT_FOUND))
        };
        Router::new()
            .route(METADATA_PATH, any(handler))
            .route(&format!("{METADATA_PATH}/{{*path}}"), any(handler))
            .with_state(self.clone())
    }

    /// Answers with the document, if this is its address: it is there for everybody.
    pub(super) fn metadata_response(
        &self,
        method: &Method,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Option<Response> {
        let metadata = self.0.auth.resource_metadata(uri.path())?;
        if let Err(denied) = self.0.auth.check_host_and_origin(headers, uri) {
            return Some(responses::access_denied(&denied));
        }
        if *method != Method::GET && *method != Method::HEAD {
            let mut refusal = empty_response(StatusCode::METHOD_NOT_ALLOWED);
            let allowed = HeaderValue::from_static("GET, HEAD");
            refusal.headers_mut().insert(header::ALLOW, allowed);
            return Some(refusal);
        }
        let mut response = responses::json(StatusCode::OK, metadata.to_vec());
        let hour = HeaderValue::from_static("max-age=3600");
        response.headers_mut().insert(header::CACHE_CONTROL, hour);
        Some(response)
    }
}
