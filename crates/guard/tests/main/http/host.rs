//! URLs, hosts and ports that are refused.

use toolwright_guard::{FetchError, SafeHttp, SetupError};

use super::site::{Site, ok};
use super::{assert_refused, client, client_without_site};

#[tokio::test]
async fn an_allowed_address_is_fetched() {
    let site = Site::start(|_| ok("hello")).await;
    let http = client(&site).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/a?b=c#d")).await.unwrap();
    assert_eq!(page.url, site.url("http", "site.test", "/a?b=c"));
    assert_eq!((page.status, page.text().as_str(), page.truncated), (200, "hello", false));
    assert_eq!(page.content_type.as_deref(), Some("text/plain"));
}

#[tokio::test]
async fn a_request_has_only_the_necessary_headers() {
    let site = Site::start(|_| ok("")).await;
    let http = client(&site).build().unwrap();
    http.get(&site.url("http", "site.test", "/a?b=c#d")).await.unwrap();
    let heads = site.heads();
    let mut lines: Vec<&str> = heads[0].trim_end().lines().collect();
    lines.sort_unstable();
    let host = format!("host: site.test:{}", site.address.port());
    let agent = concat!("user-agent: toolwright/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        lines,
        [
            "GET /a?b=c HTTP/1.1",
            "accept-encoding: identity",
            "accept: */*",
            "connection: close",
            &host,
            agent
        ]
    );
}

#[tokio::test]
async fn other_schemes_are_refused() {
    let (http, _) = client_without_site();
    for url in [
        "file:///etc/passwd",
        "ftp://site.test/",
        "gopher://site.test/",
        "data:text/plain,x",
        "javascript:1",
    ] {
        assert_refused(http.get(url).await, |error| matches!(error, FetchError::Scheme { .. }));
    }
}

#[tokio::test]
async fn an_invalid_url_is_refused() {
    let (http, _) = client_without_site();
    let long = format!("http://site.test/{}", "a".repeat(10_000));
    for url in ["", "site.test", "/path", "http://", "http://a b/", "http://[::1", &long] {
        let error = http.get(url).await.unwrap_err();
        assert!(matches!(error, FetchError::Url { .. }), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn user_names_and_passwords_are_refused() {
    let (http, resolver) = client_without_site();
    for url in [
        "http://user@site.test/",
        "http://user:password@site.test/",
        "http://:password@site.test/",
        "http://site.test@127.0.0.1/",
    ] {
        assert_refused(http.get(url).await, |error| matches!(error, FetchError::UserInfo));
    }
    assert!(resolver.queries().is_empty());
}

#[tokio::test]
async fn other_ports_are_refused() {
    let (http, resolver) = client_without_site();
    for url in ["http://site.test:22/", "https://site.test:6379/", "http://site.test:0/"] {
        assert_refused(http.get(url).await, |error| matches!(error, FetchError::Port { .. }));
    }
    assert!(resolver.queries().is_empty());
}

#[tokio::test]
async fn local_names_are_refused_without_a_lookup() {
    let (http, resolver) = client_without_site();
    for host in [
        "localhost",
        "LocalHost",
        "localhost.",
        "localhost..",
        "a.localhost",
        "printer.local",
        "printer.local.",
        "metadata.google.internal",
        "router.home.arpa",
        "intranet",
    ] {
        let error = http.get(&format!("http://{host}/")).await.unwrap_err();
        assert!(matches!(error, FetchError::Host { .. }), "{host}: {error:?}");
    }
    assert!(resolver.queries().is_empty(), "{:?}", resolver.queries());
}

#[tokio::test]
async fn only_allowed_hosts_are_fetched_if_any_are_configured() {
    let site = Site::start(|_| ok("")).await;
    let http =
        client(&site).allow_host("Site.test.").allow_host("*.wiki.internal").build().unwrap();
    for host in ["site.test", "SITE.test", "a.wiki.internal", "a.b.wiki.internal"] {
        assert!(http.get(&site.url("http", host, "/")).await.is_ok(), "{host}");
    }
    for host in ["a.site.test", "notsite.test", "wiki.internal", "xwiki.internal", "127.0.0.1"] {
        assert_refused(http.get(&site.url("http", host, "/")).await, |error| {
            matches!(error, FetchError::Host { .. })
        });
    }
}

#[tokio::test]
async fn denied_hosts_and_their_subdomains_are_refused() {
    let site = Site::start(|_| ok("")).await;
    let http = client(&site).deny_host("bad.test").build().unwrap();
    for host in ["bad.test", "BAD.test.", "a.bad.test"] {
        assert_refused(http.get(&site.url("http", host, "/")).await, |error| {
            matches!(error, FetchError::Host { .. })
        });
    }
    assert!(http.get(&site.url("http", "notbad.test", "/")).await.is_ok());
    let http = client(&site).allow_host("*.bad.test").deny_host("bad.test").build().unwrap();
    assert!(http.get(&site.url("http", "a.bad.test", "/")).await.is_err());
}

#[tokio::test]
async fn a_denied_address_is_denied_in_every_notation() {
    let site = Site::start(|_| ok("")).await;
    let spellings = [
        "127.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "2130706433",
        "0x7f.1",
        "127.0.0.1.",
        // Resolves to the denied address.
        "site.test",
    ];
    for denied in ["127.0.0.1", "[::ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]"] {
        let http = client(&site).deny_host(denied).build().unwrap();
        for host in spellings {
            let result = http.get(&site.url("http", host, "/")).await;
            assert_refused(result, |error| {
                matches!(error, FetchError::Host { .. } | FetchError::Address { .. })
            });
        }
    }
    let http = client(&site).deny_host("127.0.0.2").build().unwrap();
    assert!(http.get(&site.url("http", "127.0.0.1", "/")).await.is_ok());
}

#[test]
fn an_invalid_host_cannot_be_allowed_or_denied() {
    let error = SafeHttp::builder().allow_host("https://site.test/").build().unwrap_err();
    assert!(matches!(error, SetupError::Host { .. }), "{error:?}");
    let error = SafeHttp::builder().deny_host("").build().unwrap_err();
    assert!(matches!(error, SetupError::Host { .. }), "{error:?}");
}
