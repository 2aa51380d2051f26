//! A URL as the model wrote it in, a page out.
//!
//! Every hop goes check URL → resolve → check addresses → connect to those → exchange, and each step
//! is a file. hyper is used without a connector or pool of its own, so there is no second place
//! that looks a name up, follows a redirect or reads the environment for a proxy.

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
pub use exchange::Page;
pub use resolve::{Resolver, SystemResolver};

use connect::Connector;
use exchange::Answer;
use policy::{Policy, Target};

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// An HTTP client that reaches the public internet and nothing else; cheap to clone.
///
/// As a parameter of a tool it is the client given to the invoker with `.state(http)`, else one with
/// everything as it is by default: http and https on ports 80 and 443, public addresses only, at
/// most 5 redirects, 1 MiB and 20 seconds. It sends no cookies, credentials or `Referer`, uses no
/// proxy, and unpacks nothing.
///
/// The address that was checked is the address that is connected to: a name is looked up once per
/// hop, and a name with even one forbidden address is refused, because a public site has none.
///
/// # Examples
///
/// ```
/// use toolwright_guard::{FetchError, SafeHttp};
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
    /// Makes a client with everything as it is by default.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up.
    pub fn new() -> Result<Self, SetupError> {
        Self::builder().build()
    }

    /// Starts a client.
    pub fn builder() -> SafeHttpBuilder {
        SafeHttpBuilder::new()
    }

    /// Fetches a page, whatever its status.
    ///
    /// # Errors
    ///
    /// When the URL, a redirect or an address is not allowed, or there is no answer.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes the connection.
    pub async fn get(&self, url: &str) -> Result<Page, FetchError> {
        self.fetch(Method::GET, url).await
    }

    /// Asks about a page without fetching it: the body is empty.
    ///
    /// # Errors
    ///
    /// As [`get`](SafeHttp::get).
    pub async fn head(&self, url: &str) -> Result<Page, FetchError> {
        self.fetch(Method::HEAD, url).await
    }

    async fn fetch(&self, method: Method, url: &str) -> Result<Page, FetchError> {
        let limit = self.0.timeout;
        match timeout(limit, self.follow(&method, url)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(FetchError::Timeout { limit }),
        }
    }

    async fn follow(&self, method: &Method, url: &str) -> Result<Page, FetchError> {
        let mut target = self.0.policy.target(url)?;
        for _ in 0..=MAX_REDIRECTS {
            match self.hop(method, &target).await? {
                Answer::Page(page) => return Ok(page),
                Answer::Redirect(location) => {
                    target = self.0.policy.redirected(&target, &location)?;
                }
            }
        }
        Err(FetchError::TooManyRedirects {
            limit: MAX_REDIRECTS,
        })
    }

    async fn hop(&self, method: &Method, target: &Target) -> Result<Answer, FetchError> {
        let shared = &self.0;
        let addresses = resolve::pin(&*shared.resolver, &shared.policy, target).await?;
        let stream = connect::reach(&addresses, target).await?;
        if target.is_https() {
            let stream = shared.connector.secure(stream, target).await?;
            exchange::exchange(stream, method, target, shared.max_bytes).await
        } else {
            exchange::exchange(stream, method, target, shared.max_bytes).await
        }
    }
}

impl fmt::Debug for SafeHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SafeHttp")
            .field("policy", &self.0.policy)
            .finish_non_exhaustive()
    }
}

impl Param for SafeHttp {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        match cx.setup().state::<SafeHttp>() {
            Some(http) => Ok(SafeHttp::clone(&http)),
            None => usual().map_err(ToolError::fatal),
        }
    }
}

/// The client of tools that were given none: its certificates are read once.
fn usual() -> Result<SafeHttp, SetupError> {
    static USUAL: Mutex<Option<SafeHttp>> = Mutex::new(None);
    let mut usual = USUAL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*usual {
        Some(http) => Ok(http.clone()),
        None => Ok(usual.insert(SafeHttp::new()?).clone()),
    }
}
