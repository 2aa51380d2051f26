//! Property names that the dialect does not admit are written otherwise, and read back.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::NameRule;
use crate::lower::{Draft, Impossible, Lookup, Mark, describe, mark};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let Some(rule) = draft.rules.parameter_name else {
        return Ok(());
    };
    draft.walk(|schema, _| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(Value::Object(properties)) = members.find_mut("properties") else {
            return;
        };
        if properties.keys().all(|name| rule.admits(name)) {
            return;
        }
        let renamed = rename(properties, &rule);
        if let Some(Value::Array(required)) = members.find_mut("required") {
            for name in required {
                if let Some(wire) = name.as_str().and_then(|name| renamed.get(name)) {
                    *name = Value::from(wire.as_str());
                }
            }
        }
    });
    Ok(())
}

/// Renames what has to be, in place; returns the new names under the old.
fn rename(properties: &mut Map<String, Value>, rule: &NameRule) -> HashMap<String, String> {
    let fit = properties.keys().filter(|name| rule.admits(name));
    let mut names = Names {
        taken: fit.cloned().collect(),
        numbers: HashMap::new(),
    };
    let mut renamed = HashMap::new();
    for (name, mut part) in std::mem::take(properties) {
        if rule.admits(&name) {
            properties.insert(name, part);
            continue;
        }
        let wire = names.free(&name, rule);
        if let Value::Object(part) = &mut part {
            describe(part, &format!("named {}", Value::from(name.as_str())));
            mark(part, Mark::Name(name.clone()));
        }
        properties.insert(wire.clone(), part);
        renamed.insert(name, wire);
    }
    renamed
}

/// The names of an object so far.
struct Names {
    taken: HashSet<String>,
    /// The last number behind a name, so that many alike need not be counted through.
    numbers: HashMap<String, usize>,
}

impl Names {
    /// The nearest name that nobody has, and takes it.
    fn free(&mut self, name: &str, rule: &NameRule) -> String {
        let fit = fitted(name, rule);
        let short = |most: usize| fit.chars().take(most).collect::<String>();
        let mut wire = short(rule.most);
        let number = self.numbers.entry(wire.clone()).or_insert(1);
        while !self.taken.insert(wire.clone()) {
            *number += 1;
            let ending = format!("_{number}");
            wire = short(rule.most.saturating_sub(ending.len())) + &ending;
        }
        wire
    }
}

/// The nearest name of letters that the rule admits.
fn fitted(name: &str, rule: &NameRule) -> String {
    let mut wire = String::with_capacity(name.len() + 1);
    for letter in name.chars() {
        let place = usize::from(!wire.is_empty());
        if rule.admits_at(place, letter) {
            wire.push(letter);
        } else {
            wire.push('_');
            // Only its place was wrong.
            if place == 0 && rule.admits_at(1, letter) {
                wire.push(letter);
            }
        }
    }
    if wire.is_empty() {
        wire.push('_');
    }
    wire
}
