//! What headers say about a request, checked against what its body says.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::server::{McpServer, Revision, RpcError, RpcMessage, decode_header};
use toolwright_auth::Principal;

pub(super) const SESSION_HEADER: &str = "mcp-session-id";
pub(super) const VERSION_HEADER: &str = "mcp-protocol-version";

/// What the client takes for an answer.
pub(super) struct AcceptedTypes {
    pub(super) json: bool,
    pub(super) event_stream: bool,
}

impl AcceptedTypes {
    pub(super) fn from_headers(headers: &HeaderMap) -> Self {
        let mut accepts = Self {
            json: false,
            event_stream: false,
        };
        let mut silent = true;
        for value in headers.get_all(header::ACCEPT) {
            silent = false;
            let value = value.to_str().unwrap_or_default();
            for kind in value.split(',') {
                let kind = kind.split(';').next().unwrap_or_default().trim();
                match kind {
                    "*/*" => (accepts.json, accepts.event_stream) = (true, true),
                    "application/json" | "application/*" => accepts.json = true,
                    "text/event-stream" | "text/*" => accepts.event_stream = true,
                    _ => {}
                }
            }
        }
        if silent {
            (accepts.json, accepts.event_stream) = (true, true);
        }
        accepts
    }
}

/// Tells whether the body is said to be JSON.
pub(super) fn has_json_body(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Returns a header that may come once only.
pub(super) fn single_header<'h>(
    headers: &'h HeaderMap,
    name: &str,
) -> Result<Option<&'h [u8]>, RpcError> {
    let mut all = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let first = all.next();
    match all.next() {
        Some(_) => Err(RpcError::header_mismatch(format!(
            "header `{name}` comes twice"
        ))),
        None => Ok(first.map(<[u8]>::trim_ascii)),
    }
}

/// Tells whether a request speaks of itself, without a session.
pub(super) fn is_stateless_request(version: Option<&[u8]>, message: &RpcMessage<'_>) -> bool {
    let with_session = |version: &[u8]| {
        let known = std::str::from_utf8(version)
            .ok()
            .and_then(Revision::from_date);
        known.is_some_and(|revision| !revision.is_stateless())
    };
    message.params.meta.protocol_version.is_some() || version.is_some_and(|it| !with_session(it))
}

/// Checks that the headers of a request without a session repeat what its body says.
pub(super) fn check_headers_match_body(
    server: &McpServer,
    headers: &HeaderMap,
    version: Option<&[u8]>,
    message: &RpcMessage<'_>,
    visitor: &Principal,
) -> Result<(), RpcError> {
    let Some(version) = version else {
        return Err(RpcError::header_mismatch(format!(
            "header `{VERSION_HEADER}` is missing"
        )));
    };
    match message.params.meta.protocol_version.as_deref() {
        Some(said) if said.as_bytes() != version => {
            let message =
                format!("header `{VERSION_HEADER}` does not repeat the version in `_meta`");
            return Err(RpcError::header_mismatch(message));
        }
        Some(_) => {}
        None => {
            let version = String::from_utf8_lossy(version);
            if Revision::from_date(&version).is_none() {
                return Err(RpcError::unsupported_version(&version));
            }
        }
    }
    if single_header(headers, "mcp-method")? != Some(message.method().as_bytes()) {
        let message = "header `mcp-method` does not repeat the method";
        return Err(RpcError::header_mismatch(message));
    }
    if let Some(target) = message.name_header_value() {
        let header = single_header(headers, "mcp-name")?.map(decode_header);
        // A request that lacks the name itself is told so later.
        let agrees = match (&header, target) {
            (Some(Some(said)), Some(target)) => said == target,
            (None, None) => true,
            _ => false,
        };
        if !agrees {
            let message = "header `mcp-name` does not repeat the name or address";
            return Err(RpcError::header_mismatch(message));
        }
    }
    if message.method() == "tools/call"
        && let Some(tool) = message.params.name.as_deref()
    {
        let snapshot = server.0.auth.all_tools().invoker().snapshot()?;
        let entry = snapshot.get(tool);
        // What is not open is refused later, whatever its headers say.
        if entry.is_some_and(|entry| !visitor.may_use(entry.spec())) {
            return Ok(());
        }
        let arguments = message.params.arguments.map_or("{}", |raw| raw.get());
        let header = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
        server
            .0
            .header_arguments
            .check_headers(&snapshot, tool, arguments, header)?;
    }
    Ok(())
}
