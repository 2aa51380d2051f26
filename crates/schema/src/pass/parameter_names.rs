//! Property names that the dialect does not admit are written otherwise, and read back.

use serde_json::{Map, Value};

use crate::NameRule;
use crate::lower::{Draft, Impossible, Mark, describe, mark};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let Some(rule) = draft.spot.rules.parameter_name else {
        return Ok(());
    };
    draft.walk(|schema, _| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(Value::Object(properties)) = members.get_mut("properties") else {
            return;
        };
        if properties.keys().all(|name| rule.admits(name)) {
            return;
        }
        let renamed = rename(properties, &rule);
        if let Some(Value::Array(required)) = members.get_mut("required") {
            for name in required {
                if let Some((_, wire)) = renamed.iter().find(|(old, _)| name == old) {
                    *name = Value::from(wire.as_str());
                }
            }
        }
    });
    Ok(())
}

/// Renames what has to be, in place; returns the old names with the new.
fn rename(properties: &mut Map<String, Value>, rule: &NameRule) -> Vec<(String, String)> {
    let mut taken: Vec<String> = properties
        .keys()
        .filter(|name| rule.admits(name))
        .cloned()
        .collect();
    let mut renamed = Vec::new();
    for (name, mut part) in std::mem::take(properties) {
        if rule.admits(&name) {
            properties.insert(name, part);
            continue;
        }
        let wire = wire_name(&name, rule, &taken);
        if let Value::Object(part) = &mut part {
            describe(part, &format!("named {}", Value::from(name.as_str())));
            mark(part, Mark::Name(name.clone()));
        }
        taken.push(wire.clone());
        properties.insert(wire.clone(), part);
        renamed.push((name, wire));
    }
    renamed
}

/// The nearest name that the rule admits and nobody has.
fn wire_name(name: &str, rule: &NameRule, taken: &[String]) -> String {
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
    let short = |most: usize| wire.chars().take(most).collect::<String>();
    let plain = short(rule.most);
    let numbered = (2..).map(|number| {
        let ending = format!("_{number}");
        short(rule.most.saturating_sub(ending.len())) + &ending
    });
    std::iter::once(plain.clone())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .unwrap_or(plain)
}
