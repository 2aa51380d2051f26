//! The text of a token in, what it says out; nothing of it counts before its signature is checked.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use super::verifying_key::SignatureAlgorithm;
use crate::auth::claims::{Claims, VerifyError};

/// A token, taken apart.
pub(super) struct SignedToken<'a> {
    pub(super) algorithm: SignatureAlgorithm,
    /// What the signature is of.
    pub(super) signing_input: &'a str,
    pub(super) signature: Vec<u8>,
    header: TokenHeader,
    payload: Vec<u8>,
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<Value>,
}

#[derive(Deserialize)]
struct TokenPayload {
    iss: String,
    sub: String,
    aud: OneOrMany,
    exp: f64,
    nbf: Option<f64>,
    scope: Option<OneOrMany>,
    /// As some call it.
    scp: Option<OneOrMany>,
}

/// One text or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }

    /// Takes the words: scopes are written with blanks in between.
    fn into_words(self) -> Vec<String> {
        let texts = self.into_vec();
        let words = texts.iter().flat_map(|text| text.split_ascii_whitespace());
        words.map(str::to_owned).collect()
    }
}

impl<'a> SignedToken<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, VerifyError> {
        let broken = || VerifyError::invalid_token("the token is no signed JSON Web Token");
        let (signed, signature) = text.rsplit_once('.').ok_or_else(broken)?;
        let (header, payload) = signed.split_once('.').ok_or_else(broken)?;
        let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| broken());
        let header: TokenHeader = serde_json::from_slice(&bytes(header)?).map_err(|_| broken())?;
        let algorithm = SignatureAlgorithm::from_name(&header.alg).ok_or_else(|| {
            VerifyError::invalid_token("the token is not signed in a way that is taken")
        })?;
        let kind = header.typ.as_deref().unwrap_or("JWT");
        let kind = kind.strip_prefix("application/").unwrap_or(kind);
        if !kind.eq_ignore_ascii_case("JWT") && !kind.eq_ignore_ascii_case("at+jwt") {
            return Err(VerifyError::invalid_token("the token is not for access"));
        }
        if header.crit.is_some() {
            return Err(VerifyError::invalid_token(
                "the token insists on what is not known here",
            ));
        }
        Ok(Self {
            algorithm,
            signing_input: signed,
            signature: bytes(signature)?,
            payload: bytes(payload)?,
            header,
        })
    }

    pub(super) fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Reads the claims, once the signature is known to be good.
    pub(super) fn claims(&self, issuer: &str) -> Result<Claims, VerifyError> {
        let payload: TokenPayload = serde_json::from_slice(&self.payload).map_err(|_| {
            VerifyError::invalid_token(
                "the token lacks one of iss, sub, aud and exp, or garbles it",
            )
        })?;
        if payload.iss != issuer {
            return Err(VerifyError::invalid_token("the token is of another issuer"));
        }
        let scopes = [payload.scope, payload.scp].into_iter().flatten();
        let mut claims = Claims::new(payload.sub, payload.aud.into_vec())
            .scopes(scopes.flat_map(OneOrMany::into_words))
            .expires(parse_timestamp(payload.exp)?);
        if let Some(at) = payload.nbf {
            claims = claims.not_before(parse_timestamp(at)?);
        }
        Ok(claims)
    }
}

/// Reads seconds since 1970; the year 5138 is as far as anybody looks.
fn parse_timestamp(seconds: f64) -> Result<SystemTime, VerifyError> {
    match (0.0..1e11).contains(&seconds) {
        true => Ok(UNIX_EPOCH + Duration::from_secs_f64(seconds)),
        false => Err(VerifyError::invalid_token(
            "a time in the token is out of bounds",
        )),
    }
}
