//! Adds to an error which vendor it is about, and where its server was expected; removes the secrets that were sent.

use toolwright_chat::{ModelError, ModelErrorKind};
use url::Url;

use crate::transport::{WireHeader, is_loopback};
use crate::vendor::Vendor;

/// A shorter value of a header is found by chance in other text.
const MIN_SECRET_LEN: usize = 6;

/// Names the vendor; where no response began because of the network, also the address. For a server on this machine that refuses
/// connections, also how to start it.
pub(crate) fn with_vendor(
    mut error: ModelError,
    vendor: &str,
    url: &Url,
    has_begun: bool,
) -> ModelError {
    let address = url.origin().ascii_serialization();
    error.message = match error.kind {
        ModelErrorKind::Network if !has_begun => {
            let advice = start_advice(vendor, url);
            format!("{vendor} does not answer at {address}: {}{advice}", error.message)
        }
        // A server that accepts connections runs.
        ModelErrorKind::Timeout if !has_begun => {
            format!("{vendor} does not answer at {address}: {}", error.message)
        }
        _ => format!("{vendor}: {}", error.message),
    };
    error
}

/// Masks the values of sensitive headers, which a vendor may quote in its error.
pub(crate) fn without_sent_secrets(mut error: ModelError, headers: &[WireHeader]) -> ModelError {
    for header in headers.iter().filter(|header| header.sensitive) {
        let secret = header.value.strip_prefix("Bearer ").unwrap_or(&header.value);
        if secret.len() >= MIN_SECRET_LEN && error.message.contains(secret) {
            error.message = error.message.replace(secret, "***");
        }
    }
    error
}

fn start_advice(vendor: &str, url: &Url) -> String {
    let command = Vendor::by_name(vendor).ok().and_then(|vendor| vendor.start_command);
    match command.filter(|_| is_loopback(url)) {
        Some(command) => format!("; start it with `{command}`"),
        None => String::new(),
    }
}
