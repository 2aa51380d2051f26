//! A bearer token in, the caller it belongs to out.

use sha2::{Digest as _, Sha256};
use toolwright_core::{Caller, Secret};

use super::error::BuildError;

/// The shortest token that is not a joke.
const SHORTEST: usize = 16;

/// Who may come in; without any, everybody may.
#[derive(Default)]
pub(crate) struct Tokens(Vec<(Caller, [u8; 32])>);

impl Tokens {
    pub(crate) fn add(&mut self, caller: &str, token: &Secret) -> Result<(), BuildError> {
        let token = token.expose().trim();
        if token.len() < SHORTEST {
            return Err(BuildError::BlankToken);
        }
        self.0.push((Caller::new(caller), digest(token)));
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds whose token an `Authorization` header brings.
    ///
    /// Digests are compared, so that how long it takes tells nothing of the token.
    pub(crate) fn caller(&self, header: Option<&[u8]>) -> Option<Caller> {
        if self.0.is_empty() {
            return Some(Caller::default());
        }
        let header = std::str::from_utf8(header?).ok()?;
        let (scheme, token) = header.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let sent = digest(token.trim());
        let known = self.0.iter().find(|(_, known)| *known == sent);
        known.map(|(caller, _)| caller.clone())
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
