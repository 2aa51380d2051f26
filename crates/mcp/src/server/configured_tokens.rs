//! A bearer token in, the caller it belongs to out.

use sha2::{Digest as _, Sha256};
use toolwright_core::{Caller, Secret};

use super::error::McpBuildError;

/// The shortest token that is not a joke.
const MIN_TOKEN_BYTES: usize = 16;

/// The name of callers who share a token.
const SHARED_CALLER: &str = "token";

/// Who may come in; without any, everybody may.
#[derive(Default)]
pub(crate) struct ConfiguredTokens(Vec<ConfiguredToken>);

struct ConfiguredToken {
    caller: Caller,
    /// Whether it belongs to one caller; else several people share it.
    is_personal: bool,
    digest: [u8; 32],
}

impl ConfiguredTokens {
    /// Adds the token of a caller, or one that several people share.
    pub(crate) fn add(
        &mut self,
        caller: Option<&str>,
        token: &Secret,
    ) -> Result<(), McpBuildError> {
        let token = token.expose().trim();
        if token.len() < MIN_TOKEN_BYTES {
            return Err(McpBuildError::TokenTooShort);
        }
        if caller == Some(SHARED_CALLER) {
            return Err(McpBuildError::ReservedCallerName);
        }
        self.0.push(ConfiguredToken {
            caller: Caller::new(caller.unwrap_or(SHARED_CALLER)),
            is_personal: caller.is_some(),
            digest: digest(token),
        });
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if somebody is let in without an identity of their own.
    pub(crate) fn has_shared(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|token| !token.is_personal)
    }

    /// Finds the caller of a name that has a token of its own.
    pub(crate) fn find_caller(&self, name: &str) -> Option<Caller> {
        let mut callers = self.0.iter().filter(|token| token.is_personal);
        let found = callers.find(|token| token.caller.name() == Some(name));
        found.map(|token| token.caller.clone())
    }

    /// Finds whose token an `Authorization` header brings, and whether it is theirs alone.
    ///
    /// Digests are compared, so that how long it takes tells nothing of the token.
    pub(crate) fn authenticate(&self, header: Option<&[u8]>) -> Option<(Caller, bool)> {
        if self.0.is_empty() {
            return Some((Caller::default(), false));
        }
        let header = std::str::from_utf8(header?).ok()?;
        let (scheme, token) = header.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let sent = digest(token.trim());
        let known = self.0.iter().find(|known| known.digest == sent);
        known.map(|known| (known.caller.clone(), known.is_personal))
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
