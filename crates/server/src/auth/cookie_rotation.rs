//! Which cookies open a session: the value changes while the session is used, and a value that was replaced betrays a copy.
//!
//! A new value is sent with a response, which may get lost. So the value before stays valid until the new one is used, and for a
//! short time afterwards, for requests that are under way. A value that comes later than that is in two hands: the session ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::session_seal::{CookieValue, SealKey};

/// The maximum number of replaced values that are remembered; a session has one per hour.
const MAX_RETIRED: usize = 64;

/// How often the value of a cookie changes, and how long the value before stays valid.
#[derive(Clone, Copy)]
pub(super) struct RotationTimes {
    pub(super) interval: Duration,
    pub(super) grace: Duration,
}

/// The cookies of a session, as they are stored.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct CookieKeys {
    current: CookieKey,
    /// When the current value was sent, or the next one, in milliseconds since 1970.
    rotated: u64,
    /// The value that was sent, and not used yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<CookieKey>,
    /// The value before the current one, and until when it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<(CookieKey, u64)>,
    /// Digests of all values that were replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    retired: Vec<String>,
}

/// A cookie, and the key of the session, encrypted with its secret.
#[derive(Clone, Serialize, Deserialize)]
struct CookieKey {
    digest: String,
    key: String,
}

/// What a cookie is to a session.
pub(super) enum CookieStatus {
    /// It opens the session, whose key this is.
    Valid(SealKey),
    /// It was replaced: the client that has sent it is not the one that has the new value.
    Replaced,
    /// It never was a cookie of the session.
    Unknown,
}

impl CookieKey {
    fn new(cookie: &CookieValue<'_>, session_key: &SealKey) -> Option<Self> {
        let key = cookie.seal_key()?.seal_key(&cookie.key(), session_key)?;
        Some(Self { digest: cookie.digest_text(), key })
    }

    fn open(&self, cookie: &CookieValue<'_>) -> Option<SealKey> {
        cookie.seal_key()?.open_key(&cookie.key(), &self.key)
    }
}

impl CookieKeys {
    /// The first cookie of a session; `None` if the key cannot be encrypted.
    pub(super) fn new(cookie: &CookieValue<'_>, session_key: &SealKey, now: u64) -> Option<Self> {
        let current = CookieKey::new(cookie, session_key)?;
        Some(Self { current, rotated: now, next: None, previous: None, retired: Vec::new() })
    }

    /// Looks up a cookie; true if its first use has changed what is stored.
    pub(super) fn admit(
        &mut self,
        cookie: &CookieValue<'_>,
        times: RotationTimes,
        now: u64,
    ) -> (CookieStatus, bool) {
        let digest = cookie.digest_text();
        let status = |key: &CookieKey| match key.open(cookie) {
            Some(key) => CookieStatus::Valid(key),
            None => CookieStatus::Unknown,
        };
        if self.current.digest == digest {
            return (status(&self.current), false);
        }
        if let Some(next) = self.next.take_if(|next| next.digest == digest) {
            let found = status(&next);
            let replaced = std::mem::replace(&mut self.current, next);
            self.retire(replaced.digest.clone());
            self.previous = Some((replaced, now.saturating_add(millis(times.grace))));
            return (found, true);
        }
        if let Some((previous, until)) = &self.previous
            && previous.digest == digest
            && now < *until
        {
            return (status(previous), false);
        }
        match self.retired.contains(&digest) {
            true => (CookieStatus::Replaced, false),
            false => (CookieStatus::Unknown, false),
        }
    }

    /// Returns a new value to send, if this is the current cookie and it is old enough.
    pub(super) fn rotate(
        &mut self,
        cookie: &CookieValue<'_>,
        session_key: &SealKey,
        times: RotationTimes,
        now: u64,
    ) -> Option<String> {
        // A value that was sent and is not used yet may have been lost: then another one is sent, a little later.
        let wait = match &self.next {
            None => times.interval,
            Some(_) => times.grace,
        };
        if self.current.digest != cookie.digest_text()
            || now < self.rotated.saturating_add(millis(wait))
        {
            return None;
        }
        let value = cookie.with_new_secret().ok()?;
        let next = CookieKey::new(&CookieValue::parse(&value)?, session_key)?;
        if let Some(lost) = self.next.replace(next) {
            self.retire(lost.digest);
        }
        self.rotated = now;
        Some(value)
    }

    fn retire(&mut self, digest: String) {
        if self.retired.len() >= MAX_RETIRED {
            self.retired.remove(0);
        }
        self.retired.push(digest);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: RotationTimes =
        RotationTimes { interval: Duration::from_secs(3600), grace: Duration::from_secs(60) };
    const HOUR: u64 = 3_600_000;
    const MINUTE: u64 = 60_000;

    struct Session {
        keys: CookieKeys,
        session_key: SealKey,
    }

    impl Session {
        fn begin() -> (Self, String) {
            let first = CookieValue::generate("operator/").unwrap();
            let session_key = SealKey::generate().unwrap();
            let cookie = CookieValue::parse(&first).unwrap();
            let keys = CookieKeys::new(&cookie, &session_key, 0).unwrap();
            (Self { keys, session_key }, first)
        }

        fn rotate(&mut self, value: &str, now: u64) -> Option<String> {
            let cookie = CookieValue::parse(value).unwrap();
            self.keys.rotate(&cookie, &self.session_key, TIMES, now)
        }

        fn admit(&mut self, value: &str, now: u64) -> &'static str {
            let cookie = CookieValue::parse(value).unwrap();
            match self.keys.admit(&cookie, TIMES, now).0 {
                CookieStatus::Valid(key) => {
                    assert_eq!(key.to_hex(), self.session_key.to_hex());
                    "valid"
                }
                CookieStatus::Replaced => "replaced",
                CookieStatus::Unknown => "unknown",
            }
        }
    }

    #[test]
    fn a_value_is_replaced_after_an_hour_and_valid_for_a_minute_after_the_new_one_is_used() {
        let (mut session, first) = Session::begin();
        assert_eq!(session.rotate(&first, HOUR - 1), None);
        let second = session.rotate(&first, HOUR).unwrap();
        assert_eq!(session.admit(&first, 9 * HOUR), "valid", "the new one may have been lost");
        assert_eq!(session.admit(&second, 9 * HOUR), "valid");
        assert_eq!(session.admit(&first, 9 * HOUR + MINUTE - 1), "valid");
        assert_eq!(session.admit(&first, 9 * HOUR + MINUTE), "replaced");
        assert_eq!(session.admit(&second, 9 * HOUR + MINUTE), "valid");
    }

    #[test]
    fn a_new_value_that_was_lost_is_followed_by_another() {
        let (mut session, first) = Session::begin();
        let lost = session.rotate(&first, HOUR).unwrap();
        assert_eq!(session.rotate(&first, HOUR + MINUTE - 1), None, "other requests of the page");
        let second = session.rotate(&first, HOUR + MINUTE).unwrap();
        assert_eq!(session.admit(&second, HOUR + MINUTE), "valid");
        assert_eq!(session.admit(&lost, HOUR + MINUTE), "replaced");
    }

    #[test]
    fn a_thief_who_is_first_to_get_the_new_value_is_found_out_as_well() {
        let (mut session, stolen) = Session::begin();
        let of_thief = session.rotate(&stolen, HOUR).unwrap();
        assert_eq!(session.admit(&of_thief, HOUR), "valid");
        assert_eq!(session.admit(&stolen, HOUR + MINUTE), "replaced");
    }

    #[test]
    fn other_values_are_unknown_and_only_the_current_one_is_replaced() {
        let (mut session, first) = Session::begin();
        let guess = CookieValue::parse(&first).unwrap().with_new_secret().unwrap();
        assert_eq!(session.admit(&guess, 0), "unknown");
        assert_eq!(session.rotate(&guess, HOUR), None);
        let second = session.rotate(&first, HOUR).unwrap();
        assert_eq!(session.admit(&second, HOUR), "valid");
        assert_eq!(session.rotate(&first, 3 * HOUR), None);
    }

    #[test]
    fn what_is_remembered_of_replaced_values_has_a_bound_and_no_secret() {
        let (mut session, mut value) = Session::begin();
        for n in 1..=2 * MAX_RETIRED as u64 {
            value = session.rotate(&value, n * HOUR).unwrap();
            assert_eq!(session.admit(&value, n * HOUR), "valid");
        }
        assert_eq!(session.keys.retired.len(), MAX_RETIRED);
        let stored = serde_json::to_string(&session.keys).unwrap();
        let secret = value.rsplit('.').next().unwrap();
        assert!(!stored.contains(secret) && !stored.contains(&session.session_key.to_hex()));
    }
}
