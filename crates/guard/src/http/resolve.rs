//! Resolves a host once and checks all its addresses; the connection is made to these.

use std::io;
use std::net::{IpAddr, SocketAddr};

use futures::future::BoxFuture;
use url::Host;

use super::error::FetchError;
use super::policy::{Policy, Target};

/// Resolves host names.
///
/// Its results are not trusted: every address is checked.
///
/// # Examples
///
/// ```
/// use std::io;
/// use std::net::IpAddr;
///
/// use toolwright::BoxFuture;
/// use toolwright::guard::{Resolver, SafeHttp};
///
/// /// Resolves every host to one address.
/// struct Pinned(IpAddr);
///
/// impl Resolver for Pinned {
///     fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
///         Box::pin(async { Ok(vec![self.0]) })
///     }
/// }
///
/// let http = SafeHttp::builder().resolver(Pinned([1, 1, 1, 1].into())).build()?;
/// # Ok::<(), toolwright::guard::SetupError>(())
/// ```
pub trait Resolver: Send + Sync + 'static {
    /// Returns the addresses of a host, best first.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Returns the addresses of a target's host, all of them checked.
///
/// One forbidden address among them is an error for the host. Skipping it would be as safe, but a name
/// with public and private addresses is an attack or a mistake, and either should be noticed.
pub(crate) async fn checked_addresses(
    resolver: &dyn Resolver,
    policy: &Policy,
    target: &Target,
) -> Result<Vec<SocketAddr>, FetchError> {
    let found = match &target.host {
        Host::Ipv4(address) => vec![IpAddr::from(*address)],
        Host::Ipv6(address) => vec![IpAddr::from(*address)],
        Host::Domain(name) => resolve_host(resolver, name).await?,
    };
    let check = |address| policy.check_address(target, address);
    found.into_iter().map(check).collect()
}

async fn resolve_host(resolver: &dyn Resolver, name: &str) -> Result<Vec<IpAddr>, FetchError> {
    let unknown = |source| FetchError::Unknown { host: name.to_owned(), source };
    match resolver.resolve(name).await {
        Ok(found) if found.is_empty() => Err(unknown(io::ErrorKind::NotFound.into())),
        found => found.map_err(unknown),
    }
}
