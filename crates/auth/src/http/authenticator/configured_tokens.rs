//! The tokens that the operator has configured, each with its caller.

use sha2::{Digest as _, Sha256};
use toolwright_core::{Caller, Secret};

use crate::http::error::AuthBuildError;

/// Shorter tokens could be guessed.
const MIN_TOKEN_BYTES: usize = 16;

/// The name of callers who share a token.
const SHARED_CALLER: &str = "token";

/// Digests of the configured tokens; without any, every request is authenticated.
#[derive(Default)]
pub(super) struct ConfiguredTokens(Vec<ConfiguredToken>);

struct ConfiguredToken {
    caller: Caller,
    /// False if several people share it.
    is_personal: bool,
    digest: [u8; 32],
}

impl ConfiguredTokens {
    /// Adds the token of a caller, or without a caller one that several people share.
    pub(super) fn add(
        &mut self,
        caller: Option<&str>,
        token: &Secret,
    ) -> Result<(), AuthBuildError> {
        let token = token.expose().trim();
        if token.len() < MIN_TOKEN_BYTES {
            return Err(AuthBuildError::TokenTooShort);
        }
        if caller == Some(SHARED_CALLER) {
            return Err(AuthBuildError::ReservedCallerName);
        }
        self.0.push(ConfiguredToken {
            caller: Caller::new(caller.unwrap_or(SHARED_CALLER)),
            is_personal: caller.is_some(),
            digest: digest(token),
        });
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if a request can be authenticated without a name of its own.
    pub(super) fn has_shared(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|token| !token.is_personal)
    }

    /// Returns true if a token belongs to one caller.
    pub(super) fn has_personal(&self) -> bool {
        self.0.iter().any(|token| token.is_personal)
    }

    /// Finds a caller that has a personal token.
    pub(super) fn find_caller(&self, name: &str) -> Option<Caller> {
        let mut personal = self.0.iter().filter(|token| token.is_personal);
        let found = personal.find(|token| token.caller.name() == Some(name));
        found.map(|token| token.caller.clone())
    }

    /// Returns the caller of an `Authorization` header, and whether its token is personal.
    ///
    /// Digests are compared, so that the time it takes reveals nothing about the tokens.
    pub(super) fn authenticate(&self, header: Option<&[u8]>) -> Option<(Caller, bool)> {
        if self.0.is_empty() {
            return Some((Caller::default(), false));
        }
        let header = std::str::from_utf8(header?).ok()?;
        let (scheme, token) = header.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let digest = digest(token.trim());
        let found = self.0.iter().find(|token| token.digest == digest);
        found.map(|token| (token.caller.clone(), token.is_personal))
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
