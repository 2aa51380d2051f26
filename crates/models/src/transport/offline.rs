//! The switch that forbids live requests: a test that reaches a vendor by mistake costs money and leaks data.

use std::env;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

use toolwright_chat::{ModelError, ModelErrorKind};
use url::{Host, Url};

/// The environment variable that forbids live requests.
const FORBID_LIVE_VARIABLE: &str = "TOOLWRIGHT_FORBID_LIVE";

static LIVE_REQUESTS_FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Forbids requests to other machines for the rest of this process.
///
/// From now on an `HttpTransport` rejects every URL that is not a loopback address, with [`ModelErrorKind::Forbidden`]. The
/// environment variable `TOOLWRIGHT_FORBID_LIVE=1` does the same. Call it first in tests that must not cost anything.
///
/// # Examples
///
/// ```
/// use toolwright::chat::{Model as _, ModelErrorKind, ModelEvent, ModelRequest};
/// use toolwright::futures::TryStreamExt as _;
/// use toolwright::Secret;
/// use toolwright::models::{Vendor, forbid_live_requests};
///
/// forbid_live_requests();
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let model = Vendor::by_name("openai")?.model("gpt-5").api_key(Secret::new("a key")).build()?;
/// let events: Result<Vec<ModelEvent>, _> = model.stream(ModelRequest::default()).try_collect().await;
/// assert_eq!(events.unwrap_err().kind, ModelErrorKind::Forbidden);
/// # Ok::<(), toolwright::chat::ModelError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forbid_live_requests() {
    LIVE_REQUESTS_FORBIDDEN.store(true, Ordering::SeqCst);
}

/// Returns an error if live requests are forbidden and the URL is not a loopback address.
pub(super) fn check_allowed(url: &Url) -> Result<(), ModelError> {
    let forbidden = LIVE_REQUESTS_FORBIDDEN.load(Ordering::SeqCst)
        || is_truthy(env::var_os(FORBID_LIVE_VARIABLE).as_deref());
    if !forbidden || is_loopback(url) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or("nowhere");
    let message = format!(
        "live requests are forbidden here, and {host} is not this machine: answer from a recording with `Replayer` \
         (`Recorder` makes one where requests are allowed), or use a scripted model"
    );
    Err(ModelError::new(ModelErrorKind::Forbidden, message))
}

/// Returns true for any value but blank, `0` and `false`.
fn is_truthy(value: Option<&OsStr>) -> bool {
    let value = value.map(OsStr::to_string_lossy).unwrap_or_default();
    let value = value.trim();
    !(value.is_empty() || value == "0" || value.eq_ignore_ascii_case("false"))
}

/// Returns true for loopback addresses and `localhost`; other names are not resolved.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_and_localhost_are_this_machine() {
        for (address, expected) in [
            ("http://127.0.0.1:8000/v1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:11434", true),
            ("http://LocalHost:1234", true),
            ("http://0.0.0.0:11434", false),
            ("http://localhost.example", false),
            ("http://127.0.0.1.example", false),
            ("http://[::ffff:8.8.8.8]", false),
            ("http://10.0.0.1", false),
            ("https://api.openai.com/v1", false),
        ] {
            let url = Url::parse(address).unwrap();
            assert_eq!(is_loopback(&url), expected, "{address}");
        }
    }

    #[test]
    fn a_blank_or_false_variable_forbids_nothing() {
        for (value, expected) in
            [("1", true), ("true", true), ("", false), (" ", false), ("0", false), ("False", false)]
        {
            assert_eq!(is_truthy(Some(OsStr::new(value))), expected, "{value:?}");
        }
        assert!(!is_truthy(None));
    }
}
