//! Fetches a URL that the model wrote, from the public internet only.
//!
//! Every hop checks the URL, resolves the host, checks the addresses, connects to one of them and
//! exchanges a request; each step is a file. hyper is used without its connectors and pools, so no
//! other code resolves a name, follows a redirect or reads the environment for a proxy.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::Method;
use tokio::time::timeout;
use toolwright_core::{CallContext, Param, ToolError};

mod address;
mod builder;
mod connect;
mod error;
mod exchange;
mod policy;
mod resolve;

pub use builder::SafeHttpBuilder;
pub use error::{FetchError, SetupError};
pub use exchange::FetchResponse;
pub use resolve::{Resolver, SystemResolver};

use connect::Connector;
use exchange::HopResult;
use policy::{Policy, Target};

/// The maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// An HTTP client that reaches the public internet and nothing else; cheap to clone.
///
/// As a parameter of a tool it is the client given to the invoker with `.state(http)`, else one with
/// the defaults: http and https on ports 80 and 443, public addresses only, at
/// most 5 redirects, 1 MiB and 20 seconds. It sends no cookies, credentials or `Referer`, uses no
/// proxy, and decompresses nothing.
///
/// The address that was checked is the address that is connected to: a name is resolved once per
/// hop, and a name with even one forbidden address is refused, because a public site has none.
///
/// # Examples
///
/// ```
/// use toolwright::guard::{FetchError, SafeHttp};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let http = SafeHttp::new()?;
/// let metadata = http.get("http://169.254.169.254/latest/meta-data/").await;
/// assert!(matches!(metadata, Err(FetchError::Address { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct SafeHttp(Arc<Shared>);

struct Shared {
    policy: Policy,
    resolver: Arc<dyn Resolver>,
    connector: Connector,
    max_bytes: usize,
    timeout: Duration,
}

impl SafeHttp {
    /// Creates a client with the defaults.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up.
    pub fn new() -> Result<Self, SetupError> {
        Self::builder().build()
    }

    /// Returns a builder with the defaults.
    pub fn builder() -> SafeHttpBuilder {
        SafeHttpBuilder::new()
    }

    /// Fetches a URL; an error status is a response too.
    ///
    /// # Errors
    ///
    /// When the URL, a redirect or an address is not allowed, or there is no complete response.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes the connection.
    pub async fn get(&self, url: &str) -> Result<FetchResponse, FetchError> {
        self.fetch(Method::GET, url).await
    }

    /// Sends a `HEAD` request; the body of the response is empty.
    ///
    /// # Errors
    ///
    /// As [`get`](SafeHttp::get).
    pub async fn head(&self, url: &str) -> Result<FetchResponse, FetchError> {
        self.fetch(Method::HEAD, url).await
    }

    async fn fetch(&self, method: Method, url: &str) -> Result<FetchResponse, FetchError> {
        let limit = self.0.timeout;
        match timeout(limit, self.fetch_with_redirects(&method, url)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(FetchError::Timeout { limit }),
        }
    }

    async fn fetch_with_redirects(
        &self,
        method: &Method,
        url: &str,
    ) -> Result<FetchResponse, FetchError> {
        let mut target = self.0.policy.target(url)?;
        for _ in 0..=MAX_REDIRECTS {
            match self.fetch_once(method, &target).await? {
                HopResult::Response(response) => return Ok(response),
                HopResult::Redirect(location) => {
                    target = self.0.policy.redirect_target(&target, &location)?;
                }
            }
        }
        Err(FetchError::TooManyRedirects { limit: MAX_REDIRECTS })
    }

    async fn fetch_once(&self, method: &Method, target: &Target) -> Result<HopResult, FetchError> {
        let shared = &self.0;
        let addresses =
            resolve::checked_addresses(&*shared.resolver, &shared.policy, target).await?;
        let stream = connect::connect(&addresses, target).await?;
        if target.is_https() {
            let stream = shared.connector.connect_tls(stream, target).await?;
            exchange::send_request(stream, method, target, shared.max_bytes).await
        } else {
            exchange::send_request(stream, method, target, shared.max_bytes).await
        }
    }
}

impl fmt::Debug for SafeHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SafeHttp").field("policy", &self.0.policy).finish_non_exhaustive()
    }
}

impl Param for SafeHttp {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        match cx.invoker_context().state::<SafeHttp>() {
            Some(http) => Ok(SafeHttp::clone(&http)),
            None => default_client().map_err(ToolError::fatal),
        }
    }
}

/// Returns the client for invokers without one; it is created once, because that parses certificates.
fn default_client() -> Result<SafeHttp, SetupError> {
    static DEFAULT: Mutex<Option<SafeHttp>> = Mutex::new(None);
    let mut client = DEFAULT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*client {
        Some(http) => Ok(http.clone()),
        None => Ok(client.insert(SafeHttp::new()?).clone()),
    }
}
