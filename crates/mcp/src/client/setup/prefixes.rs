//! Reserves the prefixes of tool names, so that no two servers of a registry have the same.

use std::sync::Mutex;

use toolwright_core::Registry;

use crate::client::error::AttachError;
use crate::lock::lock;

/// All prefixes of this process; a registry itself does not know its attached servers.
static RESERVED_PREFIXES: Mutex<Vec<ReservedPrefix>> = Mutex::new(Vec::new());

struct ReservedPrefix {
    registry: Registry,
    prefix: String,
    server: String,
}

/// Reserves a prefix of a registry until it is dropped.
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
        let mut reserved = lock(&RESERVED_PREFIXES);
        let other =
            reserved.iter().find(|other| other.registry.ptr_eq(registry) && other.prefix == prefix);
        if let Some(other) = other {
            return Err(AttachError::PrefixTaken {
                server: server.to_owned(),
                prefix: prefix.to_owned(),
                holder: other.server.clone(),
            });
        }
        reserved.push(ReservedPrefix {
            registry: registry.clone(),
            prefix: prefix.to_owned(),
            server: server.to_owned(),
        });
        Ok(Self { registry: registry.clone(), prefix: prefix.to_owned() })
    }
}

impl Drop for PrefixReservation {
    fn drop(&mut self) {
        let mut reserved = lock(&RESERVED_PREFIXES);
        reserved.retain(|other| {
            !(other.registry.ptr_eq(&self.registry) && other.prefix == self.prefix)
        });
    }
}
