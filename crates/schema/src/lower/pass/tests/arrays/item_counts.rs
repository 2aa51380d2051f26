//! Lists that may not be too long in sum.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_pass, run_pass};
use crate::{Dialect, lower::pass::item_counts::run};

fn lists(bounds: &[u64]) -> Value {
    let list = |(at, bound): (usize, &u64)| {
        (format!("l{at}"), json!({"type": "array", "items": {"type": "string"}, "maxItems": bound}))
    };
    json!({"type": "object", "properties": bounds.iter().enumerate().map(list).collect::<serde_json::Map<_, _>>()})
}

#[test]
fn what_adds_up_to_what_is_allowed_stays() {
    for bounds in [&[][..], &[0], &[960], &[900, 60], &[320, 320, 320]] {
        assert_pass(run, Dialect::GEMINI, lists(bounds), lists(bounds), &[]);
    }
}

#[test]
fn of_more_the_longest_are_described() {
    let text = |bound| format!("At most {bound} items");
    for (bounds, lost) in [
        (&[961][..], &[0][..]),
        (&[1000, 10, 900], &[0]),
        (&[900, 900, 10], &[0, 1]),
        (&[480, 481], &[1]),
        (&[u64::MAX, u64::MAX, 1], &[0, 1]),
    ] {
        let mut after = lists(bounds);
        let mut losses = Vec::new();
        for at in lost {
            let bound = bounds[*at];
            let list = &mut after["properties"][format!("l{at}")];
            list.as_object_mut().unwrap().shift_remove("maxItems");
            list["description"] = json!(text(bound));
            losses.push(format!(
                "/properties/l{at}: maxItems (wider), described as \"at most {bound} items\""
            ));
        }
        for dialect in [Dialect::GEMINI, Dialect::GEMINI_OPENAPI] {
            assert_eq!(run_pass(run, dialect, lists(bounds)), (after.clone(), losses.clone()));
        }
    }
}

#[test]
fn lists_are_counted_wherever_they_are_and_names_are_not() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({
            "properties": {"maxItems": {"anyOf": [{"type": "array", "maxItems": 500, "items": {"type": "array", "description": "Rows.", "maxItems": 501}}]}},
            "$defs": {"a": {"maxItems": 100}},
        }),
        json!({
            "properties": {"maxItems": {"anyOf": [{"type": "array", "maxItems": 500, "items": {"type": "array", "description": "Rows. (at most 501 items)"}}]}},
            "$defs": {"a": {"maxItems": 100}},
        }),
        &[
            "/properties/maxItems/anyOf/0/items: maxItems (wider), described as \"at most 501 items\"",
        ],
    );
}

#[test]
fn where_there_is_no_such_bound_nothing_happens() {
    assert_pass(run, Dialect::OPENAI_STRICT, lists(&[5000]), lists(&[5000]), &[]);
}
