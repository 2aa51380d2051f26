//! The headers of a request: content types, and the values that must match the body.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use toolwright_auth::Principal;

use crate::server::{McpServer, Revision, RpcError, RpcMessage, decode_header};

// Names that are parsed already: a request is asked for each of them.
pub(super) static SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) static VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
static METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
static NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

/// The content types that the client accepts.
pub(super) struct AcceptedTypes {
    pub(super) json: bool,
    pub(super) event_stream: bool,
}

impl AcceptedTypes {
    pub(super) fn from_headers(headers: &HeaderMap) -> Self {
        // Without the header, the client accepts everything.
        let is_missing = !headers.contains_key(header::ACCEPT);
        let mut accepted = Self { json: is_missing, event_stream: is_missing };
        for value in headers.get_all(header::ACCEPT) {
            let value = value.to_str().unwrap_or_default();
            for kind in value.split(',') {
                let kind = kind.split(';').next().unwrap_or_default().trim();
                match kind {
                    "*/*" => (accepted.json, accepted.event_stream) = (true, true),
                    "application/json" | "application/*" => accepted.json = true,
                    "text/event-stream" | "text/*" => accepted.event_stream = true,
                    _ => {}
                }
            }
        }
        accepted
    }
}

/// Returns true if the content type is JSON.
pub(super) fn has_json_body(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Returns the value of a header, or an error if it comes more than once.
pub(super) fn single_header<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h [u8]>, RpcError> {
    let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let first = values.next();
    match values.next() {
        Some(_) => Err(RpcError::header_mismatch(format!("header `{name}` comes twice"))),
        None => Ok(first.map(<[u8]>::trim_ascii)),
    }
}

/// Returns true if a request belongs to a revision without sessions.
pub(super) fn is_stateless_request(version: Option<&[u8]>, message: &RpcMessage<'_>) -> bool {
    let has_sessions = |version: &[u8]| {
        let revision = std::str::from_utf8(version).ok().and_then(Revision::from_date);
        revision.is_some_and(|revision| !revision.is_stateless())
    };
    message.params.meta.protocol_version.is_some()
        || version.is_some_and(|version| !has_sessions(version))
}

/// Checks that the headers of a request without a session repeat version, method, name and arguments of its body.
pub(super) fn check_headers_match_body(
    server: &McpServer,
    headers: &HeaderMap,
    version: Option<&[u8]>,
    message: &RpcMessage<'_>,
    principal: &Principal,
) -> Result<(), RpcError> {
    let mismatch = |message: &str| Err(RpcError::header_mismatch(message));
    let Some(version) = version else {
        return mismatch("header `mcp-protocol-version` is missing");
    };
    match message.params.meta.protocol_version.as_deref() {
        Some(in_body) if in_body.as_bytes() != version => {
            return mismatch(
                "header `mcp-protocol-version` does not repeat the version in `_meta`",
            );
        }
        Some(_) => {}
        None => {
            let version = String::from_utf8_lossy(version);
            if Revision::from_date(&version).is_none() {
                return Err(RpcError::unsupported_version(&version));
            }
        }
    }
    if single_header(headers, &METHOD_HEADER)? != Some(message.method().as_bytes()) {
        return mismatch("header `mcp-method` does not repeat the method");
    }
    if let Some(name) = message.name_header_value() {
        let header = single_header(headers, &NAME_HEADER)?.map(decode_header);
        // If the body lacks the name as well, that is reported later.
        let is_equal = match (&header, name) {
            (Some(Some(header)), Some(name)) => header == name,
            (None, None) => true,
            _ => false,
        };
        if !is_equal {
            return mismatch("header `mcp-name` does not repeat the name or address");
        }
    }
    if message.method() == "tools/call"
        && let Some(tool) = message.params.name.as_deref()
    {
        let snapshot = server.0.auth.all_tools().invoker().snapshot()?;
        let entry = snapshot.get(tool);
        // A tool that is not granted is rejected later, whatever its headers are.
        if entry.is_some_and(|entry| !principal.may_use(entry.spec())) {
            return Ok(());
        }
        let arguments = message.params.arguments.map_or("{}", |raw| raw.get());
        let header = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
        server.0.header_arguments.check_headers(&snapshot, tool, arguments, header)?;
    }
    Ok(())
}
