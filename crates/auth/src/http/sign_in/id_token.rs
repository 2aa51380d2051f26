//! The claims of an ID token, checked against this client (OpenID Connect Core, 3.1.3.7).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::SignInError;

/// The tolerated difference between the clocks of this machine and of the provider.
const CLOCK_SKEW: Duration = Duration::from_secs(60);

/// What an ID token must match.
pub(super) struct ExpectedClaims<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    /// `None` for a token that was renewed, which has none.
    pub(super) nonce: Option<&'a str>,
}

impl ExpectedClaims<'_> {
    /// Checks the claims of a token whose signature was verified; returns the subject and the time until it expires.
    pub(super) fn check(
        &self,
        claims: &Map<String, Value>,
        now: SystemTime,
    ) -> Result<(String, Duration), SignInError> {
        let invalid = |reason: &str| SignInError::invalid(format!("the ID token {reason}"));
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        if text("iss") != Some(self.issuer) {
            return Err(invalid("is of another issuer"));
        }
        let audience: Vec<Option<&str>> = match claims.get("aud") {
            Some(Value::Array(names)) => names.iter().map(Value::as_str).collect(),
            other => vec![other.and_then(Value::as_str)],
        };
        if !audience.contains(&Some(self.client_id)) {
            return Err(invalid("is for another client"));
        }
        let authorized = claims.get("azp").map(Value::as_str);
        if authorized.is_some_and(|client| client != Some(self.client_id))
            || (audience.len() > 1 && authorized.is_none())
        {
            return Err(invalid("was issued to another client"));
        }
        if let Some(nonce) = self.nonce
            && text("nonce") != Some(nonce)
        {
            return Err(invalid("belongs to another sign-in"));
        }
        let time = |name: &str| {
            let seconds = claims.get(name)?.as_f64()?;
            let in_range = (0.0..1e11).contains(&seconds);
            in_range.then(|| UNIX_EPOCH + Duration::from_secs_f64(seconds))
        };
        let expires = time("exp").ok_or_else(|| invalid("does not expire"))?;
        let left = (expires + CLOCK_SKEW).duration_since(now);
        let Ok(left) = left.map(|left| left.saturating_sub(CLOCK_SKEW)) else {
            return Err(invalid("has expired"));
        };
        let issued = time("iat").ok_or_else(|| invalid("has no time of issue"))?;
        let begins = time("nbf").unwrap_or(issued);
        if issued.max(begins) > now + CLOCK_SKEW {
            return Err(invalid("is not valid yet"));
        }
        match text("sub") {
            Some(subject) if !subject.is_empty() => Ok((subject.to_owned(), left)),
            _ => Err(invalid("has no subject")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const EXPECTED: ExpectedClaims<'_> =
        ExpectedClaims { issuer: "https://a.example", client_id: "me", nonce: Some("n") };

    fn claims(changes: Value) -> Map<String, Value> {
        let mut claims = json!({
            "iss": "https://a.example", "sub": "1", "aud": "me", "exp": 1000, "iat": 900, "nonce": "n",
        });
        let changes = changes.as_object().unwrap().clone();
        let all = claims.as_object_mut().unwrap();
        for (name, value) in changes {
            match value {
                Value::Null => all.remove(&name),
                value => all.insert(name, value),
            };
        }
        all.clone()
    }

    fn check(changes: Value) -> Result<(String, Duration), SignInError> {
        EXPECTED.check(&claims(changes), UNIX_EPOCH + Duration::from_secs(950))
    }

    #[test]
    fn a_token_for_this_client_and_sign_in_is_accepted() {
        let (subject, left) = check(json!({})).unwrap();
        assert_eq!((&*subject, left), ("1", Duration::from_secs(50)));
        for changes in [
            json!({ "aud": ["me"] }),
            json!({ "aud": ["other", "me"], "azp": "me" }),
            json!({ "azp": "me" }),
            json!({ "exp": 890.5 }),
            json!({ "iat": 1009 }),
        ] {
            assert!(check(changes.clone()).is_ok(), "{changes}");
        }
    }

    #[test]
    fn a_token_of_another_issuer_client_sign_in_or_time_is_rejected() {
        for (changes, named) in [
            (json!({ "iss": "https://b.example" }), "issuer"),
            (json!({ "iss": "https://a.example/" }), "issuer"),
            (json!({ "iss": null }), "issuer"),
            (json!({ "aud": "other" }), "client"),
            (json!({ "aud": [] }), "client"),
            (json!({ "aud": null }), "client"),
            (json!({ "aud": ["me", "other"] }), "client"),
            (json!({ "aud": ["me", "other"], "azp": "other" }), "client"),
            (json!({ "azp": "other" }), "client"),
            (json!({ "azp": 7 }), "client"),
            (json!({ "nonce": "m" }), "sign-in"),
            (json!({ "nonce": null }), "sign-in"),
            (json!({ "exp": 889 }), "expired"),
            (json!({ "exp": null }), "expire"),
            (json!({ "exp": -1 }), "expire"),
            (json!({ "exp": "1000" }), "expire"),
            (json!({ "iat": 1011 }), "valid yet"),
            (json!({ "iat": null }), "issue"),
            (json!({ "nbf": 1011 }), "valid yet"),
            (json!({ "sub": "" }), "subject"),
            (json!({ "sub": 5 }), "subject"),
        ] {
            let error = check(changes.clone()).unwrap_err().to_string();
            assert!(error.contains(named), "{changes}: {error}");
        }
    }
}
