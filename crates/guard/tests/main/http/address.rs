//! Private addresses, and names that resolve to them, are refused.

use std::net::{IpAddr, TcpListener};

use toolwright_guard::{FetchError, SafeHttp};

use super::resolver::ScriptedResolver;
use super::site::{Site, ok};
use super::{LOOPBACK, assert_refused, client, client_without_site, is_address};

#[tokio::test]
async fn the_port_of_an_allowed_address_is_not_allowed_elsewhere() {
    let site = Site::start(|_| ok("")).await;
    let http = client(&site).resolver(ScriptedResolver::always(&[[1, 1, 1, 1].into()]));
    let fetched = http.build().unwrap().get(&site.url("http", "site.test", "/")).await;
    assert_refused(fetched, |error| matches!(error, FetchError::Port { .. }));
}

#[tokio::test]
async fn a_private_address_is_refused_in_every_notation() {
    let (http, resolver) = client_without_site();
    for host in [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0x0.0x0.0x1",
        "0177.0.0.1",
        "017700000001",
        "0",
        "%31%32%37.0.0.1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
    ] {
        let error = http.get(&format!("http://{host}/")).await.unwrap_err();
        assert!(is_address(&error), "{host}: {error:?}");
    }
    assert!(resolver.queries().is_empty(), "{:?}", resolver.queries());
}

#[tokio::test]
async fn a_private_ipv6_address_is_refused_in_every_notation() {
    let (http, _) = client_without_site();
    for host in [
        "::",
        "::1",
        "0:0:0:0:0:0:0:1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::169.254.169.254",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "ff02::1",
    ] {
        let error = http.get(&format!("http://[{host}]/")).await.unwrap_err();
        assert!(is_address(&error), "{host}: {error:?}");
    }
}

#[tokio::test]
async fn a_name_for_a_private_address_is_refused() {
    for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00::1"]
    {
        let address: IpAddr = address.parse().unwrap();
        let http = SafeHttp::builder().resolver(ScriptedResolver::always(&[address]));
        let error = http.build().unwrap().get("http://site.test/").await.unwrap_err();
        assert!(is_address(&error), "{address}: {error:?}");
        assert!(!error.to_string().contains(&address.to_string()), "{error}");
    }
}

#[tokio::test]
async fn a_name_with_one_private_address_among_others_is_refused() {
    let site = Site::start(|_| ok("")).await;
    for others in [[LOOPBACK, [10, 0, 0, 1].into()], [[10, 0, 0, 1].into(), LOOPBACK]] {
        let http = client(&site).resolver(ScriptedResolver::always(&others)).build().unwrap();
        assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_address);
    }
    assert!(site.heads().is_empty());
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_resolved_once_per_hop() {
    let site = Site::start(|_| ok("hello")).await;
    let resolver = ScriptedResolver::in_order(&[&[LOOPBACK], &[[10, 0, 0, 1].into()]]);
    let http = client(&site).resolver(resolver.clone()).build().unwrap();
    let page = http.get(&site.url("http", "site.test", "/")).await.unwrap();
    assert_eq!(page.text(), "hello");
    assert_eq!(resolver.queries(), ["site.test"]);
    // The next page is resolved and checked again.
    assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_address);
}

#[tokio::test]
async fn a_name_that_becomes_public_later_is_refused_now() {
    let site = Site::start(|_| ok("hello")).await;
    let resolver = ScriptedResolver::in_order(&[&[[10, 0, 0, 1].into()], &[LOOPBACK]]);
    let http = client(&site).resolver(resolver.clone()).build().unwrap();
    assert_refused(http.get(&site.url("http", "site.test", "/")).await, is_address);
    assert_eq!(resolver.queries().len(), 1);
}

#[tokio::test]
async fn a_name_without_addresses_is_unknown() {
    let http = SafeHttp::builder().resolver(ScriptedResolver::always(&[])).build().unwrap();
    let error = http.get("http://site.test/").await.unwrap_err();
    assert!(matches!(error, FetchError::Unknown { .. }), "{error:?}");
    assert!(error.is_transient());
}

#[tokio::test]
async fn an_address_without_a_listener_is_unreachable() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let http = SafeHttp::builder().allow_address(closed).build().unwrap();
    let fetched = http.get(&format!("http://{closed}/")).await;
    assert_refused(fetched, |error| matches!(error, FetchError::Unreachable { .. }));
}

#[tokio::test]
async fn an_allowed_network_is_limited_to_the_allowed_ports() {
    let site = Site::start(|_| ok("")).await;
    let inside = || SafeHttp::builder().allow_network("127.0.0.0/8".parse().unwrap());
    let url = format!("http://{}/", site.address);
    let fetched = inside().build().unwrap().get(&url).await;
    assert_refused(fetched, |error| matches!(error, FetchError::Port { .. }));
    let http = inside().allow_port(site.address.port()).build().unwrap();
    assert!(http.get(&url).await.is_ok());
}
