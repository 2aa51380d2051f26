//! Routes that know their paths, and how each is protected.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::MethodRouter;

use crate::auth::middleware::{Access, Guard, authenticate};
use crate::http::error_response::ErrorResponse;

/// The routes of one part of a server, for one [`Access`].
pub(crate) struct Routes {
    router: Router,
    paths: Vec<String>,
    access: Access,
}

impl Routes {
    /// Routes with a state.
    pub(crate) fn new<S: Clone + Send + Sync + 'static>(
        access: Access,
        state: &S,
        routes: impl IntoIterator<Item = (impl Into<String>, MethodRouter<S>)>,
    ) -> Self {
        let (mut router, mut paths) = (Router::new(), Vec::new());
        for (path, methods) in routes {
            let path = path.into();
            router = router.route(&path, methods);
            paths.push(path);
        }
        Self::from_router(access, router.with_state(state.clone()), paths)
    }

    /// The routes of a router with these paths.
    pub(crate) fn from_router(access: Access, router: Router, paths: Vec<String>) -> Self {
        let router =
            router.method_not_allowed_fallback(async || ErrorResponse::method_not_allowed());
        Self { router, paths, access }
    }

    /// The response to every path that has no route.
    pub(crate) fn not_found() -> Self {
        let router =
            Router::new().fallback(async || ErrorResponse::not_found("nothing is at this path"));
        Self { router, paths: Vec::new(), access: Access::Credential }
    }

    /// Protects the routes; returns the router and its paths.
    pub(crate) fn protect(self, mut guard: Guard) -> (Router, Vec<String>) {
        guard.access = self.access;
        (self.router.layer(from_fn_with_state(guard, authenticate)), self.paths)
    }
}
