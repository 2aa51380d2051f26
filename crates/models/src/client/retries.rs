//! Delays between the retries of a request.

use std::time::{Duration, SystemTime};

use toolwright_chat::ModelError;
use toolwright_core::__internal::with_jitter;
use toolwright_core::Backoff;

use crate::transport::WireResponse;

/// The maximum delay: if a vendor demands more, the error goes to the caller instead.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// The delay before the first retry, if the vendor demands none.
const INITIAL_DELAY: Duration = Duration::from_millis(500);

/// The retries of one request.
pub(super) struct Retries {
    left: u32,
    backoff: Backoff,
}

impl Retries {
    pub(super) fn new(retries: u32) -> Self {
        let backoff = Backoff::new(INITIAL_DELAY, MAX_DELAY).jitter(0.75..1.25);
        Self { left: retries, backoff }
    }

    /// Returns the delay before the next retry; `None` if the request must not be retried.
    pub(super) fn delay_after(&mut self, error: &ModelError) -> Option<Duration> {
        if !error.is_transient() || error.retry_after.is_some_and(|wait| wait > MAX_DELAY) {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let delay = self.backoff.next();
        error.retry_after.map(|wait| with_jitter(wait, &(1.0..1.1))).or(delay)
    }
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
        let mut retries = Retries::new(3);
        let times: Vec<Duration> = std::iter::from_fn(|| retries.delay_after(&busy)).collect();
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
        assert_eq!(Retries::new(3).delay_after(&hours), None);
        let wrong = ModelError::new(ModelErrorKind::BadRequest, "no");
        assert_eq!(Retries::new(3).delay_after(&wrong), None);
        let now =
            ModelError::new(ModelErrorKind::RateLimit, "again").retry_after(Some(Duration::ZERO));
        assert_eq!(Retries::new(1).delay_after(&now), Some(Duration::ZERO));
    }
}
