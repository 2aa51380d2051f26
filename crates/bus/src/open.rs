//! Opens a bus by its URL.

use std::sync::Arc;

use crate::bus::{Bus, BusError};

/// Connects to the bus that a URL names: `nats://HOST`, `tls://HOST` (NATS over TLS) or `postgres://USER@HOST/DATABASE`.
///
/// Waits a few seconds for the first attempt to connect. A server that cannot be reached then is no error:
/// [`Bus::status`] has it, and the bus works as soon as the server is there. Has to be called in a runtime of tokio.
///
/// # Errors
///
/// When the URL is malformed, or its scheme is unknown or of a feature that is off. The message has no password.
///
/// # Examples
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let error = toolwright::bus::open("carrier-pigeon://coop").await.err().unwrap();
/// assert!(error.to_string().contains("nats://HOST"));
/// # });
/// ```
pub async fn open(url: &str) -> Result<Arc<dyn Bus>, BusError> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    match scheme {
        Some("nats" | "tls") => nats(url).await,
        Some("postgres" | "postgresql") => postgres(url).await,
        Some(scheme) if is_scheme(scheme) => {
            Err(BusError::new(format!("no bus is called `{scheme}://`; there are {KINDS}")))
        }
        // The text may be anything, a password included.
        _ => Err(BusError::new(format!("the URL of the bus has no scheme; there are {KINDS}"))),
    }
}

const KINDS: &str = "`nats://HOST`, `tls://HOST` (NATS over TLS) and `postgres://HOST/DATABASE`";

fn is_scheme(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    !text.is_empty() && text.chars().all(is_allowed)
}

#[cfg(feature = "nats")]
async fn nats(url: &str) -> Result<Arc<dyn Bus>, BusError> {
    Ok(Arc::new(crate::NatsBus::connect(url).await?))
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<Arc<dyn Bus>, BusError> {
    Ok(Arc::new(crate::PostgresBus::connect(url).await?))
}

#[cfg(not(feature = "nats"))]
async fn nats(_: &str) -> Result<Arc<dyn Bus>, BusError> {
    Err(missing_feature("nats"))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<Arc<dyn Bus>, BusError> {
    Err(missing_feature("postgres"))
}

#[cfg(not(all(feature = "nats", feature = "postgres")))]
fn missing_feature(feature: &str) -> BusError {
    BusError::new(format!(
        "this program was built without a bus over `{feature}://`; build it with the feature `{feature}` of toolwright"
    ))
}

#[cfg(all(test, not(feature = "nats")))]
mod tests {
    #[tokio::test]
    async fn a_missing_feature_is_one_of_the_crate_that_programs_depend_on() {
        let opened = super::open("nats://localhost").await;
        let message = opened.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.ends_with("the feature `nats` of toolwright"), "{message}");
    }
}
