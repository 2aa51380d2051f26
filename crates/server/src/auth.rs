//! Authentication of a request: origin and token checks, login cookies, and the `RequestContext` that handlers receive.

pub(crate) mod cors;
pub(crate) mod login;
pub(crate) mod login_attempts;
pub(crate) mod middleware;
pub(crate) mod request_context;
pub(crate) mod session_cookie;
