//! Builds a client: allowed hosts, ports and addresses, and its limits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use url::Host;

use super::address::effective_address;
use super::connect::Connector;
use super::error::SetupError;
use super::policy::{Pattern, Policy};
use super::resolve::{Resolver, SystemResolver};
use super::{SafeHttp, Shared};

/// The default maximum of bytes that are read of a body.
const MAX_BYTES: usize = 1 << 20;
/// The default timeout of a fetch, redirects included.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Configures a [`SafeHttp`].
///
/// # Examples
///
/// ```
/// use toolwright::guard::SafeHttp;
///
/// // One internal wiki, and nothing else.
/// let http = SafeHttp::builder()
///     .allow_host("wiki.internal")
///     .allow_network("10.20.0.0/16".parse()?)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct SafeHttpBuilder {
    ports: Vec<u16>,
    allowed: Vec<String>,
    denied: Vec<String>,
    addresses: Vec<SocketAddr>,
    networks: Vec<IpNet>,
    resolver: Arc<dyn Resolver>,
    trusted: Vec<Vec<u8>>,
    max_bytes: usize,
    timeout: Duration,
}

impl SafeHttpBuilder {
    pub(super) fn new() -> Self {
        Self {
            ports: vec![80, 443],
            allowed: Vec::new(),
            denied: Vec::new(),
            addresses: Vec::new(),
            networks: Vec::new(),
            resolver: Arc::new(SystemResolver),
            trusted: Vec::new(),
            max_bytes: MAX_BYTES,
            timeout: TIMEOUT,
        }
    }

    /// Allows this host, or all its subdomains if it starts with `*.`; all hosts that are not allowed
    /// are then refused.
    ///
    /// A local name, such as `wiki.internal`, is refused unless it is allowed like this. Its
    /// addresses still have to be public or allowed.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.allowed.push(host.into());
        self
    }

    /// Denies this host and its subdomains, even if they are allowed.
    ///
    /// An address is denied in every notation, and for every name that resolves to it.
    pub fn deny_host(mut self, host: impl Into<String>) -> Self {
        self.denied.push(host.into());
        self
    }

    /// Allows a port besides 80 and 443.
    pub fn allow_port(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    /// Allows one address on one port, public or not: for tests, and for one internal service.
    ///
    /// Every page may redirect there.
    pub fn allow_address(mut self, address: SocketAddr) -> Self {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        self.addresses.push(address);
        self
    }

    /// Allows a network, public or not, on the allowed ports: for an intranet.
    ///
    /// Every page may redirect there.
    pub fn allow_network(mut self, network: IpNet) -> Self {
        self.networks.push(network);
        self
    }

    /// Replaces the resolver of the operating system.
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Trusts certificates, in PEM form, in addition to those of the public authorities.
    pub fn trust(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.trusted.push(pem.into());
        self
    }

    /// Sets the maximum of bytes that are read of a body; 1 MiB by default.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the timeout of a fetch, redirects included; 20 seconds by default.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    ///
    /// When an allowed or denied host, or a certificate, is invalid.
    pub fn build(self) -> Result<SafeHttp, SetupError> {
        let mut policy = Policy {
            ports: self.ports,
            allowed: Vec::new(),
            denied: Vec::new(),
            denied_addresses: Vec::new(),
            addresses: self.addresses,
            networks: self.networks,
        };
        for host in self.allowed {
            policy.allowed.push(match host.strip_prefix("*.") {
                Some(name) => Pattern::Subdomains(format!(".{}", parse_host(name, &host)?)),
                None => Pattern::Exact(parse_host(&host, &host)?.to_string()),
            });
        }
        for host in self.denied {
            let addresses = &mut policy.denied_addresses;
            match parse_host(host.strip_prefix("*.").unwrap_or(&host), &host)? {
                Host::Domain(name) => {
                    policy.denied.push(Pattern::Subdomains(format!(".{name}")));
                    policy.denied.push(Pattern::Exact(name));
                }
                Host::Ipv4(address) => addresses.push(effective_address(address.into())),
                Host::Ipv6(address) => addresses.push(effective_address(address.into())),
            }
        }
        Ok(SafeHttp(Arc::new(Shared {
            policy,
            resolver: self.resolver,
            connector: Connector::new(&self.trusted)?,
            max_bytes: self.max_bytes,
            timeout: self.timeout,
        })))
    }
}

/// Parses a host as in a URL; `pattern` is the text that the error shows.
fn parse_host(name: &str, pattern: &str) -> Result<Host, SetupError> {
    Host::parse(name.trim_end_matches('.'))
        .map_err(|_| SetupError::Host { pattern: pattern.to_owned() })
}
