//! Properties of every argument text that a model can send.
//!
//! Each tool exists twice: as it is, so that regular calls take the fast path, and with an approver
//! that always approves, so that every call takes the slow path.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;
use toolwright::schema::{InputLimits, Tape};
use toolwright::{Outcome, ToolResult};

mod mutate;
mod sample;
mod tool_pairs;

use mutate::{mutate, mutate_text};
use sample::{ByteRng, any_value, valid};
use tool_pairs::{TWINS, ToolPair};

/// The same cases in every run, unless `PROPTEST_RNG_SEED` is set; a fifth of them outside CI, so that an edit is tested in seconds.
fn config(cases: u32) -> ProptestConfig {
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    let cases = if is_ci { cases } else { cases / 5 };
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    match config.rng_seed {
        RngSeed::Random => ProptestConfig { rng_seed: RngSeed::Fixed(7), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// The bytes that determine the choices of a case: fewer and smaller bytes make a simpler case.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..400)
}

fn twin() -> impl Strategy<Value = &'static ToolPair> {
    (0..TWINS.len()).prop_map(|index| &TWINS[index])
}

/// The result of a text, which both paths must agree on, and the value of the text; accepted arguments must be valid.
fn outcome(twin: &ToolPair, text: &str) -> Result<ToolResult, TestCaseError> {
    let (fast, careful) = twin.call(text);
    let shown =
        |result: &ToolResult| format!("{} {:?} {}", result.outcome, result.notes, result.text());
    prop_assert_eq!(shown(&fast), shown(&careful), "{}: {}", twin.name, text);
    if let Ok(tape) = Tape::parse(text, &InputLimits::default()) {
        let (fast_value, careful_value) = twin.call(&tape.to_value());
        prop_assert_eq!(shown(&fast_value), shown(&fast), "{}: value of {}", twin.name, text);
        prop_assert_eq!(shown(&careful_value), shown(&fast), "{}: value of {}", twin.name, text);
    }
    match fast.outcome {
        Outcome::Ok => {
            let received: Value = serde_json::from_str(&fast.text()).unwrap();
            let violations = twin.tool.spec().input.violations(&received);
            prop_assert!(
                violations.is_empty(),
                "{}: {} was received as {}: {:?}",
                twin.name,
                text,
                received,
                violations
            );
        }
        Outcome::InvalidArguments => {}
        other => prop_assert!(false, "{}: {}: {}", twin.name, text, other),
    }
    Ok(fast)
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn valid_arguments_are_accepted_unchanged(twin in twin(), bytes in bytes()) {
        let schema = twin.tool.spec().input.as_value();
        let value = valid(&mut ByteRng::new(&bytes), schema, schema, 0);
        let text = value.to_string();
        let violations = twin.tool.spec().input.violations(&value);
        prop_assert!(violations.is_empty(), "{}: {}: {:?}", twin.name, text, violations);
        let result = outcome(twin, &text)?;
        prop_assert_eq!(result.outcome, Outcome::Ok, "{}: {}: {}", twin.name, text, result.text());
        prop_assert!(result.notes.is_empty(), "{}: {}: {:?}", twin.name, text, result.notes);
    }
}

proptest! {
    #![proptest_config(config(5_000))]

    #[test]
    fn mutated_arguments_have_the_same_result_on_both_paths(twin in twin(), bytes in bytes()) {
        let schema = twin.tool.spec().input.as_value();
        let (first, second) = bytes.split_at(bytes.len() / 4);
        let mut dice = ByteRng::new(first);
        let mut value = valid(&mut ByteRng::new(second), schema, schema, 0);
        for _ in 0..dice.below(3) {
            mutate(&mut dice, &mut value);
        }
        outcome(twin, &mutate_text(&mut dice, &value.to_string()))?;
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn any_json_is_treated_alike_on_both_paths(twin in twin(), bytes in bytes()) {
        let mut dice = ByteRng::new(&bytes);
        let text = any_value(&mut dice, 0).to_string();
        outcome(twin, &mutate_text(&mut dice, &text))?;
    }

    #[test]
    fn any_text_has_a_result(twin in twin(), text in any::<String>()) {
        outcome(twin, &text)?;
    }

    #[test]
    fn any_text_that_looks_like_json_has_a_result(
        twin in twin(),
        text in "([{}\\[\\]\":,' \n0-9aentrufls_\\\\/.-]|count|text|\"place\"|null|```|true|\\\\u00){0,40}",
    ) {
        outcome(twin, &text)?;
    }
}
