//! Responses that are too long, too slow or malformed.

use std::time::Duration;

use toolwright_guard::FetchError;

use super::site::{Reply, Site, ok};
use super::{assert_refused, client};

/// A short timeout; the tests do not depend on its exact value.
const SHORT_TIMEOUT: Duration = Duration::from_millis(200);

fn is_response_error(error: &FetchError) -> bool {
    matches!(error, FetchError::Response { .. })
}

fn is_timeout(error: &FetchError) -> bool {
    matches!(error, FetchError::Timeout { .. })
}

#[tokio::test]
async fn a_huge_body_is_truncated_at_a_mebibyte() {
    let site = Site::start(|_| ok(&"x".repeat(3 << 20))).await;
    let http = client(&site).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!((page.body.len(), page.truncated), (1 << 20, true));
}

#[tokio::test]
async fn an_endless_body_is_truncated() {
    for (head, again) in [
        ("HTTP/1.1 200 OK\r\n\r\n", "0123456789"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n", "0123456789"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "a\r\n0123456789\r\n"),
    ] {
        let site = Site::start(move |_| Reply::Endless(head, again)).await;
        let http = client(&site).max_bytes(25).build().unwrap();
        let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
        assert_eq!((page.text().as_str(), page.truncated), ("0123456789012345678901234", true));
    }
}

#[tokio::test]
async fn a_body_as_long_as_the_limit_is_whole() {
    let site = Site::start(|_| ok("hello")).await;
    let http = client(&site).max_bytes(5).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!((page.text().as_str(), page.truncated), ("hello", false));
}

#[tokio::test]
async fn an_endless_head_is_refused() {
    for again in ["X-More: and more\r\n", "xxxxxxxxxxxxxxxx"] {
        let site =
            Site::start(move |_| Reply::Endless("HTTP/1.1 200 OK\r\nX-First: x", again)).await;
        let http = client(&site).build().unwrap();
        assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_response_error);
    }
}

#[tokio::test]
async fn endless_trailers_are_refused() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n";
    let site = Site::start(move |_| Reply::Endless(head, "X-More: and more\r\n")).await;
    let http = client(&site).build().unwrap();
    assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_response_error);
}

#[tokio::test]
async fn a_site_that_stalls_times_out() {
    for sent in
        ["", "HTTP/1.1 200 OK\r\nX-Slow: ", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"]
    {
        let site = Site::start(move |_| Reply::Stalled(sent)).await;
        let http = client(&site).timeout(SHORT_TIMEOUT).build().unwrap();
        assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_timeout);
    }
}

#[tokio::test]
async fn endless_informational_responses_time_out() {
    let site = Site::start(|_| Reply::Endless("", "HTTP/1.1 100 Continue\r\n\r\n")).await;
    let http = client(&site).timeout(SHORT_TIMEOUT).build().unwrap();
    assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_timeout);
}

#[tokio::test]
async fn a_compressed_response_is_refused_unread() {
    let bomb = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let site = Site::start(move |_| Reply::Endless(bomb, "\u{1f}")).await;
    let http = client(&site).build().unwrap();
    let fetched = http.get(&site.url("http", "site.test", "/")).await;
    assert_refused(fetched, |error| matches!(error, FetchError::Compressed { .. }));
}

#[tokio::test]
async fn a_response_that_is_not_http_or_incomplete_is_refused() {
    for sent in [
        "",
        "SSH-2.0-OpenSSH\r\n",
        "hello\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    ] {
        let site = Site::start(move |_| sent).await;
        let http = client(&site).build().unwrap();
        assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_response_error);
    }
}

#[tokio::test]
async fn a_response_with_any_status_is_a_page() {
    let site = Site::start(|_| "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope").await;
    let http = client(&site).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!((page.status, page.text().as_str(), page.is_success()), (404, "nope", false));
    assert_eq!(page.content_type, None);
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_are_replaced() {
    let latin = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ncaf\xe9";
    let site = Site::start(|_| Reply::Whole(latin.to_vec())).await;
    let http = client(&site).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!((page.text().as_str(), page.body.len()), ("caf\u{fffd}", 4));
}

#[tokio::test]
async fn a_head_request_returns_no_body() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n";
    let site = Site::start(move |_| head).await;
    let http = client(&site).build().unwrap();
    let page = http.head(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!((page.content_type.as_deref(), page.body.len()), (Some("a/b"), 0));
    assert!(site.heads()[0].starts_with("HEAD / HTTP/1.1\r\n"));
}
