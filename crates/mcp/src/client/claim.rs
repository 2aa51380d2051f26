//! Which prefix of a registry belongs to which server.

use std::sync::{Mutex, PoisonError};

use toolwright_core::Registry;

use super::error::AttachError;

/// All prefixes of this process; a registry does not know who adds to it.
static CLAIMS: Mutex<Vec<Held>> = Mutex::new(Vec::new());

struct Held {
    registry: Registry,
    prefix: String,
    server: String,
}

/// A prefix that nobody else can have until this is dropped.
pub(super) struct Claim {
    registry: Registry,
    prefix: String,
}

impl Claim {
    pub(super) fn take(
        registry: &Registry,
        prefix: &str,
        server: &str,
    ) -> Result<Self, AttachError> {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        let held = claims
            .iter()
            .find(|held| held.registry.is(registry) && held.prefix == prefix);
        if let Some(held) = held {
            return Err(AttachError::PrefixTaken {
                server: server.to_owned(),
                prefix: prefix.to_owned(),
                holder: held.server.clone(),
            });
        }
        claims.push(Held {
            registry: registry.clone(),
            prefix: prefix.to_owned(),
            server: server.to_owned(),
        });
        Ok(Self {
            registry: registry.clone(),
            prefix: prefix.to_owned(),
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        claims.retain(|held| !(held.registry.is(&self.registry) && held.prefix == self.prefix));
    }
}
