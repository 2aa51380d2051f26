//! Redirects are followed within the same rules as URLs.

use std::io::ErrorKind;
use std::net::TcpListener;

use toolwright_guard::FetchError;

use super::resolver::ScriptedResolver;
use super::site::{Site, ok, redirect};
use super::{Check, LOOPBACK, assert_refused, client, is_address};

#[tokio::test]
async fn a_redirect_is_followed_to_the_page() {
    let site = Site::start(|path| match path {
        "/a/start" => redirect("../b?c#d"),
        _ => ok("there"),
    })
    .await;
    let http = client(&site).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/a/start")).await.unwrap();
    assert_eq!(page.text(), "there");
    assert_eq!(page.url, site.url("http", "site.test", "/b?c"));
}

#[tokio::test]
async fn a_redirect_adds_no_headers() {
    let site = Site::start(|path| match path {
        "/start" => "HTTP/1.1 307 Moved\r\nLocation: /end\r\nSet-Cookie: a=b\r\n\r\n".to_owned(),
        _ => ok(""),
    })
    .await;
    let http = client(&site).build().unwrap();
    http.get(&site.url("http", "site.test", "/start")).await.unwrap();
    let heads = site.heads();
    assert_eq!(heads[0].replace("/start", "/end"), heads[1]);
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_refused() {
    for location in [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/",
        "http://[::ffff:192.168.0.1]/",
        "http://2130706433/",
    ] {
        let site = Site::start(move |_| redirect(location)).await;
        let http = client(&site).build().unwrap();
        assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_address);
    }
}

#[tokio::test]
async fn a_redirect_does_not_connect_to_the_private_address() {
    let bait = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = bait.local_addr().unwrap();
    let site = Site::start(move |_| redirect(&format!("http://{address}/"))).await;
    let http = client(&site).allow_port(address.port()).build().unwrap();
    assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_address);
    bait.set_nonblocking(true).unwrap();
    assert_eq!(bait.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_redirect_to_a_name_is_resolved_and_checked_again() {
    let site = Site::start(|_| redirect("/again")).await;
    let resolver = ScriptedResolver::in_order(&[&[LOOPBACK], &[[10, 0, 0, 1].into()]]);
    let http = client(&site).resolver(resolver.clone()).build().unwrap();
    assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_address);
    assert_eq!((site.heads().len(), resolver.queries().len()), (1, 2));
}

#[tokio::test]
async fn every_rule_applies_to_a_redirect() {
    let rules: [(&'static str, Check); 6] = [
        ("file:///etc/passwd", |error| matches!(error, FetchError::Scheme { .. })),
        ("gopher://site.test/", |error| matches!(error, FetchError::Scheme { .. })),
        ("http://user:password@site.test/", |error| matches!(error, FetchError::UserInfo)),
        ("http://site.test:22/", |error| matches!(error, FetchError::Port { .. })),
        ("http://localhost/", |error| matches!(error, FetchError::Host { .. })),
        ("http://[", |error| matches!(error, FetchError::Url { .. })),
    ];
    for (location, as_wanted) in rules {
        let site = Site::start(move |_| redirect(location)).await;
        let http = client(&site).build().unwrap();
        assert_refused(http.get(&site.url("http", "site.test", "/")).await, as_wanted);
    }
}

#[tokio::test]
async fn a_redirect_cycle_ends() {
    let site = Site::start(|_| redirect("/")).await;
    let http = client(&site).build().unwrap();
    let fetched = http.get(&site.url("http", "site.test", "/")).await;
    assert_refused(fetched, |error| matches!(error, FetchError::TooManyRedirects { .. }));
    assert_eq!(site.heads().len(), 6);
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_sixth() {
    let site = Site::start(|path| match path {
        "/0" => ok("there"),
        _ => {
            let left: usize = path[1..].parse().unwrap();
            redirect(&format!("/{}", left - 1))
        }
    })
    .await;
    let http = client(&site).build().unwrap();
    assert!(http.get(&site.url("http", "site.test", "/5")).await.is_ok());
    let fetched = http.get(&site.url("http", "site.test", "/6")).await;
    assert_refused(fetched, |error| matches!(error, FetchError::TooManyRedirects { limit: 5 }));
}

#[tokio::test]
async fn a_redirect_without_a_location_is_a_page() {
    let site = Site::start(|_| "HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nhm").await;
    let http = client(&site).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!((page.status, page.text().as_str()), (302, "hm"));
}
