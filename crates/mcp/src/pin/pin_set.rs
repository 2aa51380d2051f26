//! The pins of all servers, wherever they are stored.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use super::{Fingerprint, PinStatus};

/// Pins by server and name of the definition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct PinSet(BTreeMap<String, BTreeMap<String, Pin>>);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    pinned: Fingerprint,
    /// The last seen fingerprint, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drifted: Option<Fingerprint>,
}

impl PinSet {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the pins of one server.
    pub(super) fn of_server(mut self, server: &str) -> Self {
        self.0.retain(|known, _| known == server);
        self
    }

    /// Compares definitions with their pins; also returns true if the pins have changed.
    ///
    /// With `keep_drifted`, recorded drift of a definition is kept even if it is unchanged here.
    pub(super) fn check(
        &mut self,
        server: &str,
        definitions: &[(String, Fingerprint)],
        keep_drifted: bool,
    ) -> (Vec<PinStatus>, bool) {
        let mut changed = false;
        let pins = self.0.entry(server.to_owned()).or_default();
        let mut status = |(name, now): &(String, Fingerprint)| match pins.entry(name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(Pin { pinned: now.clone(), drifted: None });
                changed = true;
                PinStatus::New
            }
            Entry::Occupied(mut entry) => {
                let pin = entry.get_mut();
                let drifted = (pin.pinned != *now).then(|| now.clone());
                if pin.drifted != drifted && (drifted.is_some() || !keep_drifted) {
                    pin.drifted = drifted;
                    changed = true;
                }
                match pin.pinned == *now {
                    true => PinStatus::Unchanged,
                    false => PinStatus::Drifted { changed: pin.pinned.changed_parts(now) },
                }
            }
        };
        let statuses = definitions.iter().map(&mut status).collect();
        (statuses, changed)
    }

    /// Returns the definitions of a server that had changed when they were last seen, each with the parts that differ; of an issuer,
    /// its new address.
    pub(super) fn drifted(&self, server: &str) -> Vec<(String, Vec<String>)> {
        let pins = self.0.get(server).into_iter().flatten();
        let drifted = pins.filter_map(|(name, pin)| {
            let now = pin.drifted.as_ref()?;
            let issuer = now.issuer().map(|issuer| vec![issuer.to_owned()]);
            Some((name.clone(), issuer.unwrap_or_else(|| pin.pinned.changed_parts(now))))
        });
        drifted.collect()
    }

    /// Pins the last seen version of a definition; returns false if it had not changed.
    pub(super) fn accept(&mut self, server: &str, definition: &str) -> bool {
        let pins = self.0.get_mut(server);
        let Some(pin) = pins.and_then(|pins| pins.get_mut(definition)) else {
            return false;
        };
        match pin.drifted.take() {
            Some(drifted) => {
                pin.pinned = drifted;
                true
            }
            None => false,
        }
    }
}
