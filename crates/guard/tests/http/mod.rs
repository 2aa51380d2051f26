//! A guarded client before a scripted site.

use std::net::{IpAddr, Ipv4Addr};

use toolwright_guard::{FetchError, Page, SafeHttp, SafeHttpBuilder};

mod address;
mod host;
mod redirect;
mod resolver;
mod response;
mod site;
mod tls;

use resolver::Names;
use site::Site;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A client to whom every name is the site's machine, and the site is allowed.
fn client(site: &Site) -> SafeHttpBuilder {
    SafeHttp::builder()
        .allow_address(site.address)
        .resolver(Names::always(&[LOOPBACK]))
}

/// Whether an error is the wanted one.
type Check = fn(&FetchError) -> bool;

#[track_caller]
fn assert_refused(fetched: Result<Page, FetchError>, as_wanted: Check) {
    let error = fetched.unwrap_err();
    assert!(as_wanted(&error), "{error:?}");
}

fn is_address(error: &FetchError) -> bool {
    matches!(error, FetchError::Address { .. })
}

/// A client that knows one public address for every name, and never gets to connect to it.
fn nowhere() -> (SafeHttp, Names) {
    let names = Names::always(&[[1, 1, 1, 1].into()]);
    let http = SafeHttp::builder().resolver(names.clone());
    (http.build().unwrap(), names)
}
