//! The schemas below a schema, save its properties.

use serde_json::Value;

use super::{
    Members, Outcome, Walker,
    vocabulary::{Holds, holds},
};

/// Mends every schema that a keyword holds.
pub(super) fn mend(walker: &mut Walker, members: &mut Members) -> Outcome {
    let mut empty = Vec::new();
    for (keyword, value) in members.iter_mut() {
        let Some(holds @ (Holds::Schema | Holds::Schemas | Holds::Named)) = holds(keyword) else {
            continue;
        };
        let says_nothing = match value {
            Value::Null => true,
            Value::Array(elements) => holds == Holds::Schemas && elements.is_empty(),
            _ => false,
        };
        if keyword == "properties" {
            continue;
        } else if says_nothing {
            walker.note(format!("`{keyword}: {value}` dropped"));
            empty.push(keyword.clone());
            continue;
        }
        if holds == Holds::Schemas && value.is_object() {
            walker.note(format!("a schema in `{keyword}` read as a list of one"));
            *value = Value::Array(vec![value.take()]);
        }
        walker.below(keyword, |walker| match (holds, value) {
            (Holds::Schema, value) => part(walker, value),
            (Holds::Schemas, Value::Array(elements)) => {
                let mut each = elements.iter_mut().enumerate();
                each.try_for_each(|(at, element)| {
                    walker.below(&at.to_string(), |walker| part(walker, element))
                })
            }
            (Holds::Named, Value::Object(named)) => named
                .iter_mut()
                .try_for_each(|(name, value)| walker.below(name, |walker| part(walker, value))),
            (_, other) => {
                let wanted = if holds == Holds::Named {
                    "an object"
                } else {
                    "a list"
                };
                let shown = walker.show(other);
                Err(walker.error(format!("expected {wanted} of schemas, got {shown}")))
            }
        })?;
    }
    for keyword in empty {
        members.shift_remove(&keyword);
    }
    Ok(())
}

fn part(walker: &mut Walker, value: &mut Value) -> Outcome {
    if let Some(wish) = walker.schema(value)? {
        wish.dismiss(walker);
    }
    Ok(())
}
