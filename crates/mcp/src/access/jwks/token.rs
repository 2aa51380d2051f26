//! The text of a token in, what it says out; nothing of it counts before its signature is checked.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use super::key::Algorithm;
use crate::access::claims::{Claims, Unverified};

/// A token, taken apart.
pub(super) struct Token<'a> {
    pub(super) algorithm: Algorithm,
    /// What the signature is of.
    pub(super) signed: &'a str,
    pub(super) signature: Vec<u8>,
    header: Header,
    payload: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<Value>,
}

#[derive(Deserialize)]
struct Payload {
    iss: String,
    sub: String,
    aud: Several,
    exp: f64,
    nbf: Option<f64>,
    scope: Option<Several>,
    /// As some call it.
    scp: Option<Several>,
}

/// One text or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Several {
    One(String),
    Many(Vec<String>),
}

impl Several {
    fn all(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }

    /// Takes the words: scopes are written with blanks in between.
    fn words(self) -> Vec<String> {
        let texts = self.all();
        let words = texts.iter().flat_map(|text| text.split_ascii_whitespace());
        words.map(str::to_owned).collect()
    }
}

impl<'a> Token<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, Unverified> {
        let broken = || Unverified::refused("the token is no signed JSON Web Token");
        let (signed, signature) = text.rsplit_once('.').ok_or_else(broken)?;
        let (header, payload) = signed.split_once('.').ok_or_else(broken)?;
        let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| broken());
        let header: Header = serde_json::from_slice(&bytes(header)?).map_err(|_| broken())?;
        let algorithm = Algorithm::of(&header.alg)
            .ok_or_else(|| Unverified::refused("the token is not signed in a way that is taken"))?;
        let kind = header.typ.as_deref().unwrap_or("JWT");
        let kind = kind.strip_prefix("application/").unwrap_or(kind);
        if !kind.eq_ignore_ascii_case("JWT") && !kind.eq_ignore_ascii_case("at+jwt") {
            return Err(Unverified::refused("the token is not for access"));
        }
        if header.crit.is_some() {
            return Err(Unverified::refused(
                "the token insists on what is not known here",
            ));
        }
        Ok(Self {
            algorithm,
            signed,
            signature: bytes(signature)?,
            payload: bytes(payload)?,
            header,
        })
    }

    pub(super) fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Reads the claims, once the signature is known to be good.
    pub(super) fn claims(&self, issuer: &str) -> Result<Claims, Unverified> {
        let payload: Payload = serde_json::from_slice(&self.payload).map_err(|_| {
            Unverified::refused("the token lacks one of iss, sub, aud and exp, or garbles it")
        })?;
        if payload.iss != issuer {
            return Err(Unverified::refused("the token is of another issuer"));
        }
        let scopes = [payload.scope, payload.scp].into_iter().flatten();
        let mut claims = Claims::new(payload.sub, payload.aud.all())
            .scopes(scopes.flat_map(Several::words))
            .expires(moment(payload.exp)?);
        if let Some(at) = payload.nbf {
            claims = claims.not_before(moment(at)?);
        }
        Ok(claims)
    }
}

/// Reads seconds since 1970; the year 5138 is as far as anybody looks.
fn moment(seconds: f64) -> Result<SystemTime, Unverified> {
    match (0.0..1e11).contains(&seconds) {
        true => Ok(UNIX_EPOCH + Duration::from_secs_f64(seconds)),
        false => Err(Unverified::refused("a time in the token is out of bounds")),
    }
}
