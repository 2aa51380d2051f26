//! Tests of the HTTP client against a scripted site.

use std::net::{IpAddr, Ipv4Addr};

use toolwright_guard::{FetchError, FetchResponse, SafeHttp, SafeHttpBuilder};

mod address;
mod host;
mod redirect;
mod resolver;
mod response;
mod site;
mod tls;

use resolver::ScriptedResolver;
use site::Site;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A client that resolves every name to loopback and is allowed to connect to the site.
fn client(site: &Site) -> SafeHttpBuilder {
    SafeHttp::builder().allow_address(site.address).resolver(ScriptedResolver::always(&[LOOPBACK]))
}

/// Returns true if an error is the expected one.
type Check = fn(&FetchError) -> bool;

#[track_caller]
fn assert_refused(fetched: Result<FetchResponse, FetchError>, is_expected: Check) {
    let error = fetched.unwrap_err();
    assert!(is_expected(&error), "{error:?}");
}

fn is_address(error: &FetchError) -> bool {
    matches!(error, FetchError::Address { .. })
}

/// A client that resolves every name to one public address, for tests that fail before they connect.
fn client_without_site() -> (SafeHttp, ScriptedResolver) {
    let resolver = ScriptedResolver::always(&[[1, 1, 1, 1].into()]);
    let http = SafeHttp::builder().resolver(resolver.clone());
    (http.build().unwrap(), resolver)
}
