//! Pages over https.

use toolwright_guard::{FetchError, SafeHttp, SetupError};

use super::site::{Site, ok, redirect};
use super::{assert_refused, client};

#[tokio::test]
async fn a_page_with_a_trusted_certificate_is_fetched() {
    let (site, certificate) = Site::start_tls("site.test", |_| ok("hello")).await;
    let http = client(&site).trust(certificate).build().unwrap();
    for host in ["site.test", "site.test."] {
        let page = http.get(&site.url("https", host, "/")).await.unwrap();
        assert_eq!(page.text(), "hello");
    }
}

#[tokio::test]
async fn a_page_with_any_other_certificate_is_refused() {
    let (site, certificate) = Site::start_tls("site.test", |_| ok("hello")).await;
    let insecure = |error: &FetchError| matches!(error, FetchError::Insecure { .. });
    let http = client(&site).build().unwrap();
    assert_refused(http.get(&site.url("https", "site.test", "/")).await, insecure);
    let http = client(&site).trust(certificate).build().unwrap();
    assert_refused(http.get(&site.url("https", "other.test", "/")).await, insecure);
    assert!(site.heads().is_empty());
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_refused() {
    let plain = Site::start(|_| ok("")).await;
    let location = plain.url("http", "site.test", "/");
    let (site, certificate) = Site::start_tls("site.test", move |_| redirect(&location)).await;
    let http = client(&site).allow_address(plain.address).trust(certificate).build().unwrap();
    let fetched = http.get(&site.url("https", "site.test", "/")).await;
    assert_refused(fetched, |error| matches!(error, FetchError::Downgrade { .. }));
    assert!(plain.heads().is_empty());
}

#[tokio::test]
async fn a_redirect_from_http_to_https_is_followed() {
    let (secure, certificate) = Site::start_tls("site.test", |_| ok("hello")).await;
    let location = secure.url("https", "site.test", "/");
    let site = Site::start(move |_| redirect(&location)).await;
    let http = client(&site).allow_address(secure.address).trust(certificate).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!(page.text(), "hello");
}

#[test]
fn an_invalid_certificate_cannot_be_trusted() {
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in [broken, "no certificate at all"] {
        let error = SafeHttp::builder().trust(pem).build().unwrap_err();
        assert!(matches!(error, SetupError::Tls { .. }), "{error:?}");
    }
}
