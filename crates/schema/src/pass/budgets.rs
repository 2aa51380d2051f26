//! A schema that is larger than the dialect allows is made smaller, if that can be done.

use serde_json::{Map, Value};

use super::enums;
use super::json_text::{self, kind};
use super::words::short;
use crate::dialect::Budget;
use crate::lower::{Draft, Impossible, Severity, Spot, each_part};

/// An enum of more strings is a long one.
const MANY: usize = 250;

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let budget = draft.spot.rules.budget;
    if let Some(most) = budget.depth {
        flatten(&mut draft.schema, &mut draft.spot, 0, most);
    }
    if budget.properties.is_some() || budget.enum_values.is_some() || budget.characters.is_some() {
        fit(draft, budget)?;
    }
    Ok(())
}

/// Writes what lies too deep as JSON text.
fn flatten(schema: &mut Value, spot: &mut Spot, level: usize, most: usize) {
    let Value::Object(members) = schema else {
        return;
    };
    let nests = matches!(kind(members), Some("array" | "object"));
    let level = level + usize::from(nests);
    if level > most {
        return outline(schema, spot);
    }
    each_part(schema, spot, &mut |part, spot| {
        let level = if is_definition(&spot.path) { 0 } else { level };
        flatten(part, spot, level, most);
    });
    if let Value::Object(members) = schema {
        json_text::absorb(members);
    }
}

pub(super) fn outline(schema: &mut Value, spot: &mut Spot) {
    let words = format!("{}, as JSON text", short(schema));
    if let Value::Object(members) = schema {
        json_text::write(members, &words);
        spot.lose("type", Severity::Wider, Some(words));
    }
}

/// Whether this is the path of an entry of `$defs`, each of which is counted for itself.
fn is_definition(path: &str) -> bool {
    path.strip_prefix("/$defs/")
        .is_some_and(|name| !name.contains('/'))
}

/// What the whole schema has.
#[derive(Default)]
struct Tally {
    properties: usize,
    characters: usize,
    /// The enums, each with its number of values.
    enums: Vec<(usize, String)>,
}

fn fit(draft: &mut Draft, budget: Budget) -> Result<(), Impossible> {
    let mut tally = Tally::default();
    draft.walk(|schema, spot| {
        if let Value::Object(members) = schema {
            if is_too_long(members, budget.long_enum) {
                enums::give_up(members, spot);
            }
            tally.add(members, spot);
        }
    });
    let over = |most: Option<usize>, has: usize| most.filter(|most| has > *most);
    if let Some(most) = over(budget.properties, tally.properties) {
        let reason = format!(
            "it has {} properties, of which {most} are allowed",
            tally.properties
        );
        return Err(Impossible::new("", reason));
    }
    let values = tally.enums.iter().map(|(values, _)| values).sum();
    if let Some(most) = over(budget.enum_values, values) {
        drop_largest(draft, tally.enums, values, most);
        return fit(draft, budget);
    }
    if let Some(most) = over(budget.characters, tally.characters) {
        let reason = format!(
            "its names and enum values have {} characters, of which {most} are allowed",
            tally.characters
        );
        return Err(Impossible::new("", reason));
    }
    Ok(())
}

impl Tally {
    fn add(&mut self, members: &Map<String, Value>, spot: &Spot) {
        if let Some(Value::Object(properties)) = members.get("properties") {
            self.properties += properties.len();
            self.characters += properties.keys().map(String::len).sum::<usize>();
        }
        if let Some(Value::Object(definitions)) = members.get("$defs") {
            self.characters += definitions.keys().map(String::len).sum::<usize>();
        }
        if let Some(Value::Array(values)) = members.get("enum") {
            self.characters += values.iter().map(length).sum::<usize>();
            self.enums.push((values.len(), spot.path.clone()));
        }
    }
}

/// Gives up the enums with the most values until the rest fits.
fn drop_largest(draft: &mut Draft, mut enums: Vec<(usize, String)>, values: usize, most: usize) {
    enums.sort_by_key(|(values, _)| std::cmp::Reverse(*values));
    let mut left = values;
    enums.retain(|(values, _)| {
        let goes = left > most;
        if goes {
            left -= values;
        }
        goes
    });
    draft.walk(|schema, spot| {
        if let Value::Object(members) = schema
            && members.contains_key("enum")
            && enums.iter().any(|(_, path)| *path == spot.path)
        {
            enums::give_up(members, spot);
        }
    });
}

fn is_too_long(members: &Map<String, Value>, most: Option<usize>) -> bool {
    let (Some(most), Some(Value::Array(values))) = (most, members.get("enum")) else {
        return false;
    };
    values.len() > MANY
        && values.iter().all(Value::is_string)
        && values.iter().map(length).sum::<usize>() > most
}

/// Counted in bytes, which are never fewer than characters.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}
