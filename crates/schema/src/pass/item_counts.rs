//! Where list lengths are bounded in sum, the longest bounds go into words.

use serde_json::Value;

use super::words::words;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Severity, weigh};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let Some(most) = draft.rules.most_items else {
        return Ok(());
    };
    if !draft.mentions(&["maxItems"]) {
        return Ok(());
    }
    let mut bounds: Vec<u64> = Vec::new();
    weigh::each_bound(&draft.schema, &mut |bound| bounds.push(bound));
    bounds.sort_unstable();
    let mut left = most;
    let mut too_long = None;
    for bound in bounds {
        match left.checked_sub(bound) {
            Some(rest) => left = rest,
            None => {
                too_long = Some(bound);
                break;
            }
        }
    }
    let Some(too_long) = too_long else {
        return Ok(());
    };
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        let bound = members.find("maxItems").and_then(Value::as_u64);
        let Some(bound) = bound.filter(|bound| *bound >= too_long) else {
            return;
        };
        members.take_out("maxItems");
        match words("maxItems", &Value::from(bound)) {
            Some(words) => spot.spill(members, "maxItems", words),
            None => spot.lose("maxItems", Severity::Wider, None),
        }
    });
    Ok(())
}
