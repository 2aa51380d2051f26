//! The pins of all servers, wherever they are kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use super::{Fingerprint, PinStatus};

/// Definitions by server and name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct PinSet(BTreeMap<String, BTreeMap<String, Pin>>);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    pinned: Fingerprint,
    /// What it was last seen to have become, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drifted: Option<Fingerprint>,
}

impl PinSet {
    /// Judges definitions; also tells whether the book has changed.
    ///
    /// With `keeps`, a definition that is what it was stays on record as changed where another process has seen it change.
    pub(super) fn check(
        &mut self,
        server: &str,
        seen: &[(String, Fingerprint)],
        keeps: bool,
    ) -> (Vec<PinStatus>, bool) {
        let mut changed = false;
        let pins = self.0.entry(server.to_owned()).or_default();
        let mut judge = |(name, now): &(String, Fingerprint)| match pins.entry(name.clone()) {
            Entry::Vacant(place) => {
                place.insert(Pin {
                    pinned: now.clone(),
                    drifted: None,
                });
                changed = true;
                PinStatus::New
            }
            Entry::Occupied(mut place) => {
                let pin = place.get_mut();
                let drifted = (pin.pinned != *now).then(|| now.clone());
                if pin.drifted != drifted && (drifted.is_some() || !keeps) {
                    pin.drifted = drifted;
                    changed = true;
                }
                match pin.pinned == *now {
                    true => PinStatus::Unchanged,
                    false => PinStatus::Drifted {
                        changed: pin.pinned.changed_parts(now),
                    },
                }
            }
        };
        let verdicts = seen.iter().map(&mut judge).collect();
        (verdicts, changed)
    }

    /// Returns the definitions of a server that were last seen to have changed, each with the parts that differ.
    pub(super) fn drifted(&self, server: &str) -> Vec<(String, Vec<String>)> {
        let pins = self.0.get(server).into_iter().flatten();
        let drifted = pins.filter_map(|(name, pin)| {
            let changed = pin.pinned.changed_parts(pin.drifted.as_ref()?);
            Some((name.clone(), changed))
        });
        drifted.collect()
    }

    /// Pins what a definition has become; `false` if it has not changed.
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
