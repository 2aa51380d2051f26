//! Authentication of a request: origin and token checks, login cookies, and the `RequestContext` that handlers receive.

pub(crate) mod account;
mod cookie_rotation;
pub(crate) mod cors;
pub(crate) mod failed_logins;
pub(crate) mod login;
pub(crate) mod login_sessions;
pub(crate) mod middleware;
mod pending_sign_in;
mod provider_watch;
pub(crate) mod request_context;
pub(crate) mod role_check;
pub(crate) mod session_cookie;
mod session_credential;
mod session_renewal;
mod session_seal;
pub(crate) mod sign_in_routes;
