//! Delays between the retries of a request.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, SystemTime};

use toolwright_chat::ModelError;

use crate::transport::WireResponse;

/// The maximum delay: if a vendor demands more, the error goes to the caller instead.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// The delay before the first retry, if the vendor demands none.
const INITIAL_DELAY: Duration = Duration::from_millis(500);

/// Counts the retries of one request; the delay doubles with each.
pub(super) struct Backoff {
    retries_left: u32,
    next_delay: Duration,
}

impl Backoff {
    pub(super) fn new(retries: u32) -> Self {
        Self { retries_left: retries, next_delay: INITIAL_DELAY }
    }

    /// Returns the delay before the next retry; `None` if the request must not be retried.
    pub(super) fn delay_after(&mut self, error: &ModelError) -> Option<Duration> {
        if !error.is_transient() || error.retry_after.is_some_and(|wait| wait > MAX_DELAY) {
            return None;
        }
        self.retries_left = self.retries_left.checked_sub(1)?;
        let delay = self.next_delay;
        self.next_delay = delay.saturating_mul(2).min(MAX_DELAY);
        Some(match error.retry_after {
            Some(wait) if wait.is_zero() => wait,
            // Jitter: clients that were rejected together should not retry together.
            Some(wait) => wait + wait.mul_f64(0.1 * random_fraction()),
            None => delay.mul_f64(0.75 + 0.5 * random_fraction()),
        })
    }
}

/// A random number from 0 to 1.
fn random_fraction() -> f64 {
    let random = RandomState::new().hash_one(());
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// The delay that the vendor demands: in milliseconds, in seconds, or until a date.
pub(super) fn retry_after(response: &WireResponse) -> Option<Duration> {
    let number = |name| response.header(name)?.trim().parse::<f64>().ok();
    if let Some(milliseconds) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    if let Some(seconds) = number("retry-after") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |name| httpdate::parse_http_date(response.header(name)?).ok();
    let until = date("retry-after")?;
    // By the server's own clock, if it sends a `Date`.
    let now = date("date").unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use toolwright_chat::ModelErrorKind;

    use super::*;

    fn parse_retry_after(headers: &[(&str, &str)]) -> Option<Duration> {
        let mut response = WireResponse::new(429, "");
        for (name, value) in headers {
            response = response.with_header(name, *value);
        }
        retry_after(&response)
    }

    #[test]
    fn a_delay_comes_in_three_forms() {
        let seconds = |text| parse_retry_after(&[("Retry-After", text)]);
        assert_eq!(seconds("2"), Some(Duration::from_secs(2)));
        assert_eq!(seconds(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(seconds("-1"), None);
        assert_eq!(seconds("soon"), None);
        assert_eq!(
            parse_retry_after(&[("retry-after-ms", "250"), ("retry-after", "9")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            parse_retry_after(&[
                ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")
            ]),
            Some(Duration::from_secs(30))
        );
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:07 GMT"), Some(Duration::ZERO));
    }

    #[test]
    fn delays_double_and_end() {
        let busy = ModelError::new(ModelErrorKind::Overloaded, "busy");
        let mut backoff = Backoff::new(3);
        let times: Vec<Duration> = std::iter::from_fn(|| backoff.delay_after(&busy)).collect();
        assert_eq!(times.len(), 3);
        for (time, middle) in times.iter().zip([500, 1_000, 2_000]) {
            let middle = Duration::from_millis(middle);
            assert!(*time >= middle.mul_f64(0.75) && *time <= middle.mul_f64(1.25));
        }
    }

    #[test]
    fn a_long_delay_and_a_permanent_error_are_not_retried() {
        let hours = ModelError::new(ModelErrorKind::RateLimit, "quota")
            .retry_after(Some(Duration::from_secs(7_200)));
        assert_eq!(Backoff::new(3).delay_after(&hours), None);
        let wrong = ModelError::new(ModelErrorKind::BadRequest, "no");
        assert_eq!(Backoff::new(3).delay_after(&wrong), None);
        let now =
            ModelError::new(ModelErrorKind::RateLimit, "again").retry_after(Some(Duration::ZERO));
        assert_eq!(Backoff::new(1).delay_after(&now), Some(Duration::ZERO));
    }
}
