//! The console's files: in the binary, and nothing else on their page.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest as _, Sha256};

use crate::error_response::ErrorResponse;

/// Every file by its name, as `build.rs` found them.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// The page.
const INDEX_FILE: &str = "index.html";

/// What the page may do: run its own scripts and talk to this server.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// What the browser compares, so that it need not ask for the same again.
static ETAGS: LazyLock<Vec<HeaderValue>> = LazyLock::new(|| {
    let tags = FILES.iter().map(|(_, bytes)| {
        let digest = Sha256::digest(bytes);
        let digits: String = digest
            .iter()
            .take(12)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        HeaderValue::try_from(format!("\"{digits}\"")).unwrap_or(HeaderValue::from_static("\"\""))
    });
    tags.collect()
});

pub(super) fn router() -> Router {
    let mut router = Router::new().route("/", get(serve_file));
    for (name, _) in FILES {
        router = router.route(&format!("/{name}"), get(serve_file));
    }
    router
}

/// Whether a path is one of the console's.
pub(super) fn is_console_path(path: &str) -> bool {
    file_index(path).is_some()
}

/// Whether a file's path begins with this.
pub(super) fn has_first_segment(first: &str) -> bool {
    let mut firsts = FILES.iter().filter_map(|(name, _)| name.split('/').next());
    firsts.any(|known| known == first)
}

fn file_index(path: &str) -> Option<usize> {
    let name = match path.strip_prefix('/')? {
        "" => INDEX_FILE,
        name => name,
    };
    FILES.iter().position(|(known, _)| *known == name)
}

async fn serve_file(uri: Uri, headers: HeaderMap) -> Response {
    let found = file_index(uri.path());
    let found = found.and_then(|at| Some((FILES.get(at)?, ETAGS.get(at)?)));
    let Some(((name, bytes), tag)) = found else {
        return ErrorResponse::not_found("the console is not in this program").into_response();
    };
    let mut response = match headers.get(header::IF_NONE_MATCH) {
        Some(known) if known == tag => StatusCode::NOT_MODIFIED.into_response(),
        _ => Body::from(*bytes).into_response(),
    };
    let own = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(content_type(name)),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(CONTENT_SECURITY_POLICY),
        ),
        (header::ETAG, tag.clone()),
    ];
    let headers = response.headers_mut();
    headers.extend(own);
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=()",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        _ => "text/plain; charset=utf-8",
    }
}
