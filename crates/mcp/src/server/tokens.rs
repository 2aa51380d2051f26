//! A bearer token in, the caller it belongs to out.

use sha2::{Digest as _, Sha256};
use toolwright_core::{Caller, Secret};

use super::error::BuildError;

/// The shortest token that is not a joke.
const SHORTEST: usize = 16;

/// The name of callers who share a token.
const SHARED: &str = "token";

/// Who may come in; without any, everybody may.
#[derive(Default)]
pub(crate) struct Tokens(Vec<Token>);

struct Token {
    caller: Caller,
    /// Whether it belongs to one caller; else several people share it.
    identifies: bool,
    digest: [u8; 32],
}

impl Tokens {
    /// Adds the token of a caller, or one that several people share.
    pub(crate) fn add(&mut self, caller: Option<&str>, token: &Secret) -> Result<(), BuildError> {
        let token = token.expose().trim();
        if token.len() < SHORTEST {
            return Err(BuildError::BlankToken);
        }
        if caller == Some(SHARED) {
            return Err(BuildError::SharedName);
        }
        self.0.push(Token {
            caller: Caller::new(caller.unwrap_or(SHARED)),
            identifies: caller.is_some(),
            digest: digest(token),
        });
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if somebody is let in without an identity of their own.
    pub(crate) fn are_shared(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|token| !token.identifies)
    }

    /// Finds the caller of a name that has a token of its own.
    pub(crate) fn named(&self, name: &str) -> Option<Caller> {
        let mut callers = self.0.iter().filter(|token| token.identifies);
        let found = callers.find(|token| token.caller.name() == Some(name));
        found.map(|token| token.caller.clone())
    }

    /// Finds whose token an `Authorization` header brings, and whether it is theirs alone.
    ///
    /// Digests are compared, so that how long it takes tells nothing of the token.
    pub(crate) fn caller(&self, header: Option<&[u8]>) -> Option<(Caller, bool)> {
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
        known.map(|known| (known.caller.clone(), known.identifies))
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
