//! Parses JSON Web Tokens. Nothing of a token is trusted before its signature is verified.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::verifying_key::SignatureAlgorithm;
use crate::http::verify::Claims;
use crate::http::verify_error::VerifyError;

/// A token split into its parts.
pub(super) struct SignedToken<'a> {
    pub(super) algorithm: SignatureAlgorithm,
    /// The text that is signed: header and payload as they were sent.
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
    /// The name of `scope` in tokens of some authorization servers.
    scp: Option<OneOrMany>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

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

    /// Splits at blanks: one text may contain several scopes.
    fn into_words(self) -> Vec<String> {
        let texts = self.into_vec();
        let words = texts.iter().flat_map(|text| text.split_ascii_whitespace());
        words.map(str::to_owned).collect()
    }
}

impl<'a> SignedToken<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, VerifyError> {
        let malformed = || VerifyError::invalid_token("the token is no signed JSON Web Token");
        let (signed, signature) = text.rsplit_once('.').ok_or_else(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;
        let bytes = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| malformed());
        let header: TokenHeader =
            serde_json::from_slice(&bytes(header)?).map_err(|_| malformed())?;
        let algorithm = SignatureAlgorithm::from_name(&header.alg).ok_or_else(|| {
            VerifyError::invalid_token("the token is not signed in a way that is taken")
        })?;
        if header.crit.is_some() {
            return Err(VerifyError::invalid_token("the token insists on what is not known here"));
        }
        Ok(Self {
            algorithm,
            signing_input: signed,
            signature: bytes(signature)?,
            payload: bytes(payload)?,
            header,
        })
    }

    /// Rejects tokens of other types than those of access tokens.
    pub(super) fn check_access_type(&self) -> Result<(), VerifyError> {
        match self.has_type("JWT") || self.has_type("at+jwt") {
            true => Ok(()),
            false => Err(VerifyError::invalid_token("the token is not for access")),
        }
    }

    /// Returns true if this is the type of the token; without one, it is `JWT`.
    pub(super) fn has_type(&self, name: &str) -> bool {
        let kind = self.header.typ.as_deref().unwrap_or("JWT");
        kind.strip_prefix("application/").unwrap_or(kind).eq_ignore_ascii_case(name)
    }

    /// Returns all claims; to be called after the signature is verified.
    pub(super) fn all_claims(&self) -> Result<Map<String, Value>, VerifyError> {
        serde_json::from_slice(&self.payload)
            .map_err(|_| VerifyError::invalid_token("the payload of the token is no JSON object"))
    }

    pub(super) fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Returns the claims; to be called after the signature is verified.
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
        claims.others = payload.others;
        Ok(claims)
    }
}

/// Parses seconds since 1970, up to the year 5138.
fn parse_timestamp(seconds: f64) -> Result<SystemTime, VerifyError> {
    match (0.0..1e11).contains(&seconds) {
        true => Ok(UNIX_EPOCH + Duration::from_secs_f64(seconds)),
        false => Err(VerifyError::invalid_token("a time in the token is out of bounds")),
    }
}
