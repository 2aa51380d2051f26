//! Renames properties whose names the dialect does not allow; lifting restores them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::NameRule;
use crate::lower::{
    JsonObject, KeywordLookup, LiftMark, LowerError, LoweringState, add_lift_mark,
    append_to_description,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let Some(rule) = state.rules.parameter_name_rule else {
        return Ok(());
    };
    state.visit_top_down(|members, _| {
        let Some(Value::Object(properties)) = members.keyword_mut("properties") else {
            return;
        };
        if properties.keys().all(|name| rule.is_valid(name)) {
            return;
        }
        let renamed = rename_properties(properties, &rule);
        if let Some(Value::Array(required)) = members.keyword_mut("required") {
            for name in required {
                if let Some(wire) = name.as_str().and_then(|name| renamed.get(name)) {
                    *name = Value::from(wire.as_str());
                }
            }
        }
    });
    Ok(())
}

/// Renames properties in place; returns the new names by their old names.
fn rename_properties(properties: &mut JsonObject, rule: &NameRule) -> HashMap<String, String> {
    let fit = properties.keys().filter(|name| rule.is_valid(name));
    let mut names = UsedNames { taken: fit.cloned().collect(), next_suffix: HashMap::new() };
    let mut renamed = HashMap::new();
    for (name, mut subschema) in std::mem::take(properties) {
        if rule.is_valid(&name) {
            properties.insert(name, subschema);
            continue;
        }
        let wire = names.claim_unique(&name, rule);
        if let Value::Object(subschema) = &mut subschema {
            append_to_description(subschema, &format!("named {}", Value::from(name.as_str())));
            add_lift_mark(subschema, LiftMark::CanonicalName(name.clone()));
        }
        properties.insert(wire.clone(), subschema);
        renamed.insert(name, wire);
    }
    renamed
}

/// The names in use in an object.
struct UsedNames {
    taken: HashSet<String>,
    /// The last numeric suffix per name, so that many similar names need no search.
    next_suffix: HashMap<String, usize>,
}

impl UsedNames {
    /// Takes the closest name that is not in use.
    fn claim_unique(&mut self, name: &str, rule: &NameRule) -> String {
        let fit = sanitise_name(name, rule);
        let short = |length: usize| fit.chars().take(length).collect::<String>();
        let mut wire = short(rule.max_length);
        let number = self.next_suffix.entry(wire.clone()).or_insert(1);
        while !self.taken.insert(wire.clone()) {
            *number += 1;
            let ending = format!("_{number}");
            wire = short(rule.max_length.saturating_sub(ending.len())) + &ending;
        }
        wire
    }
}

/// The closest name that the rule allows.
fn sanitise_name(name: &str, rule: &NameRule) -> String {
    let mut wire = String::with_capacity(name.len() + 1);
    for letter in name.chars() {
        let index = usize::from(!wire.is_empty());
        if rule.is_valid_char(index, letter) {
            wire.push(letter);
        } else {
            wire.push('_');
            // Only its position was wrong.
            if index == 0 && rule.is_valid_char(1, letter) {
                wire.push(letter);
            }
        }
    }
    if wire.is_empty() {
        wire.push('_');
    }
    wire
}
