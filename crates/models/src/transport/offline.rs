//! An address in, whether it may be asked out: a test that reaches a vendor by mistake costs money and leaks data.

use std::env;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

use toolwright_chat::{ModelError, ModelErrorKind};
use url::{Host, Url};

/// The variable that forbids live requests.
const FORBID_LIVE_VARIABLE: &str = "TOOLWRIGHT_FORBID_LIVE";

static LIVE_REQUESTS_FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Forbids this process to reach any model but those on this machine; it cannot be allowed again.
///
/// From now on [`Http`](crate::Http) refuses every address that is not a loopback one, with
/// [`ModelErrorKind::Forbidden`]. The variable `TOOLWRIGHT_FORBID_LIVE=1` does the same from outside. Call it first in tests
/// that must not cost anything.
///
/// # Examples
///
/// ```
/// use futures::TryStreamExt as _;
/// use toolwright_chat::{Model as _, ModelErrorKind, ModelEvent, ModelRequest};
/// use toolwright_core::Secret;
/// use toolwright_models::{Vendor, forbid_live_requests};
///
/// forbid_live_requests();
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let model = Vendor::named("openai")?.model("gpt-5").key(Secret::new("a key")).build()?;
/// let asked: Result<Vec<ModelEvent>, _> = model.stream(ModelRequest::default()).try_collect().await;
/// assert_eq!(asked.unwrap_err().kind, ModelErrorKind::Forbidden);
/// # Ok::<(), toolwright_chat::ModelError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forbid_live_requests() {
    LIVE_REQUESTS_FORBIDDEN.store(true, Ordering::SeqCst);
}

/// Refuses an address that must not be asked here.
pub(super) fn check_allowed(url: &Url) -> Result<(), ModelError> {
    let forbidden = LIVE_REQUESTS_FORBIDDEN.load(Ordering::SeqCst)
        || is_truthy(env::var_os(FORBID_LIVE_VARIABLE).as_deref());
    if !forbidden || is_loopback(url) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or("nowhere");
    let message = format!(
        "live requests are forbidden here, and {host} is not this machine: answer from a recording with `Replay` \
         (`Recorder` makes one where requests are allowed), or use a scripted model"
    );
    Err(ModelError::new(ModelErrorKind::Forbidden, message))
}

/// Whether the variable says yes: anything but blank, `0` and `false`.
fn is_truthy(value: Option<&OsStr>) -> bool {
    let value = value.map(OsStr::to_string_lossy).unwrap_or_default();
    let value = value.trim();
    !(value.is_empty() || value == "0" || value.eq_ignore_ascii_case("false"))
}

/// Whether an address is of this machine, by what it says and not by what a name server makes of it.
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
    fn this_machine_is_what_says_so() {
        for (address, is_ours) in [
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
            assert_eq!(is_loopback(&url), is_ours, "{address}");
        }
    }

    #[test]
    fn a_variable_that_is_blank_or_says_no_forbids_nothing() {
        for (value, yes) in [
            ("1", true),
            ("true", true),
            ("", false),
            (" ", false),
            ("0", false),
            ("False", false),
        ] {
            assert_eq!(is_truthy(Some(OsStr::new(value))), yes, "{value:?}");
        }
        assert!(!is_truthy(None));
    }
}
