//! Digests of a definition and of each of its parts.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolwright_core::schema::canonical_json;

/// The parts of a definition that a model or an approver sees.
const DEFINITION_PARTS: [&str; 7] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    // Of a prompt.
    "arguments",
];

/// The only part of the fingerprint of an issuer.
const ISSUER: &str = "issuer";

/// A digest of a definition, and of each part, so that changed parts can be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    sha256: String,
    parts: BTreeMap<String, String>,
}

impl Fingerprint {
    /// Computes the digests of a definition; the order of keys does not matter.
    pub fn of(definition: &Map<String, Value>) -> Self {
        let present = DEFINITION_PARTS
            .iter()
            .filter_map(|part| Some(((*part).to_owned(), definition.get(*part)?.clone())));
        let definition: Map<String, Value> = present.collect();
        let parts = definition.iter().map(|(part, value)| (part.clone(), digest(value))).collect();
        Self { sha256: digest(&Value::Object(definition)), parts }
    }

    /// The fingerprint of an authorization server: its issuer, which people who read the pins should recognise.
    pub(crate) fn of_issuer(issuer: &str) -> Self {
        let parts = BTreeMap::from([(ISSUER.to_owned(), issuer.to_owned())]);
        Self { sha256: digest(&Value::from(issuer)), parts }
    }

    /// The issuer, if it is the fingerprint of one.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.parts.get(ISSUER).map(String::as_str)
    }

    /// Returns the digest of all parts together, as 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.sha256
    }

    /// Returns the names of the parts that differ, or that only one of the two has.
    pub fn changed_parts(&self, other: &Self) -> Vec<String> {
        let names = self.parts.keys().chain(other.parts.keys());
        let mut changed: Vec<String> =
            names.filter(|name| self.parts.get(*name) != other.parts.get(*name)).cloned().collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

fn digest(value: &Value) -> String {
    HEXLOWER.encode(&Sha256::digest(canonical_json(value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(definition: Value) -> Fingerprint {
        Fingerprint::of(definition.as_object().unwrap())
    }

    #[test]
    fn the_order_of_keys_and_invisible_parts_do_not_matter() {
        let one = of(json!({"name": "a", "description": "x", "_meta": {"n": 1}}));
        let other = of(json!({"description": "x", "name": "a"}));
        assert_eq!(one, other);
        assert_eq!(one.as_str().len(), 64);
    }

    #[test]
    fn changed_parts_are_named() {
        let before =
            of(json!({"name": "a", "description": "x", "inputSchema": {"type": "object"}}));
        let after = of(json!({"name": "a", "description": "y", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true}}));
        assert_eq!(before.changed_parts(&after), ["annotations", "description"]);
        assert_ne!(before.as_str(), after.as_str());
    }
}
