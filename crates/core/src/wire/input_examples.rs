//! Examples of arguments in a definition: the `examples` of the input schema, in the form of a dialect.

use serde_json::Value;
use toolwright_schema::{Lowered, Schema};

/// The maximum number of examples in a definition, and of the bytes of each: they cost tokens in every request.
const MAX_EXAMPLES: usize = 5;
const MAX_EXAMPLE_BYTES: usize = 2_000;

/// Returns the examples of an input schema that satisfy it in both forms: APIs reject a definition with another one.
pub(super) fn input_examples(input: &Schema, lowered: &Lowered) -> Vec<Value> {
    let examples = input.as_value().get("examples").and_then(Value::as_array);
    let Some(examples) = examples.filter(|examples| !examples.is_empty()) else {
        return Vec::new();
    };
    let lowered_schema = Schema::trusted(lowered.schema().clone());
    let to_wire_form = |example: &Value| {
        let is_valid = example.is_object() && input.violations(example).is_empty();
        let mut example = Some(example.clone()).filter(|_| is_valid)?;
        lowered.lower_arguments(&mut example);
        let is_valid = example.to_string().len() <= MAX_EXAMPLE_BYTES
            && lowered_schema.violations(&example).is_empty();
        Some(example).filter(|_| is_valid)
    };
    examples.iter().filter_map(to_wire_form).take(MAX_EXAMPLES).collect()
}
