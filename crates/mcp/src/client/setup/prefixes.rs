//! Reserves the prefixes of tool names, so that no two servers of a registry have the same.

use std::sync::{Arc, Mutex};

use toolwright_core::Registry;

use crate::client::error::AttachError;
use crate::lock::lock;

/// All prefixes of this process; a registry itself does not know its attached servers.
static RESERVED_PREFIXES: Mutex<Vec<Arc<ReservedPrefix>>> = Mutex::new(Vec::new());

struct ReservedPrefix {
    registry: Registry,
    prefix: String,
    server: String,
}

/// Reserves a prefix of a registry until it is dropped.
pub(crate) struct PrefixReservation(Arc<ReservedPrefix>);

impl PrefixReservation {
    pub(crate) fn reserve(
        registry: &Registry,
        prefix: &str,
        server: &str,
    ) -> Result<Self, AttachError> {
        let (prefix, server) = (prefix.to_owned(), server.to_owned());
        let mut reserved = lock(&RESERVED_PREFIXES);
        let mut others = reserved.iter();
        if let Some(other) =
            others.find(|other| other.registry.ptr_eq(registry) && other.prefix == prefix)
        {
            let holder = other.server.clone();
            return Err(AttachError::PrefixTaken { server, prefix, holder });
        }
        let reservation = Arc::new(ReservedPrefix { registry: registry.clone(), prefix, server });
        reserved.push(Arc::clone(&reservation));
        Ok(Self(reservation))
    }
}

impl Drop for PrefixReservation {
    fn drop(&mut self) {
        lock(&RESERVED_PREFIXES).retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}
