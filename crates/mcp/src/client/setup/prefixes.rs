//! Which prefix of a registry belongs to which server.

use std::sync::{Mutex, PoisonError};

use toolwright_core::Registry;

use crate::client::error::AttachError;

/// All prefixes of this process; a registry does not know who adds to it.
static RESERVED_PREFIXES: Mutex<Vec<ReservedPrefix>> = Mutex::new(Vec::new());

struct ReservedPrefix {
    registry: Registry,
    prefix: String,
    server: String,
}

/// A prefix that nobody else can have until this is dropped.
pub(crate) struct PrefixReservation {
    registry: Registry,
    prefix: String,
}

impl PrefixReservation {
    pub(crate) fn reserve(
        registry: &Registry,
        prefix: &str,
        server: &str,
    ) -> Result<Self, AttachError> {
        let mut claims = RESERVED_PREFIXES
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let held = claims
            .iter()
            .find(|held| held.registry.ptr_eq(registry) && held.prefix == prefix);
        if let Some(held) = held {
            return Err(AttachError::PrefixTaken {
                server: server.to_owned(),
                prefix: prefix.to_owned(),
                holder: held.server.clone(),
            });
        }
        claims.push(ReservedPrefix {
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

impl Drop for PrefixReservation {
    fn drop(&mut self) {
        let mut claims = RESERVED_PREFIXES
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        claims.retain(|held| !(held.registry.ptr_eq(&self.registry) && held.prefix == self.prefix));
    }
}
