//! Examples of a tool's arguments.

use serde_json::json;
use toolwright::{Registry, tool, tools};

const DAY: &str = "2026-03-14";

/// Finds trains.
#[tool(examples({"from": "OSL", "to": "BGO", "day": DAY}, {"from": "OSL", "to": "TRD", "stops": ["LIL"]}))]
fn trains(from: String, to: String, day: Option<String>, stops: Option<Vec<String>>) {
    drop((from, to, day, stops));
}

/// A manual bundle, because its error would make discovery fail in all tests.
struct Incomplete;

#[tools(manual)]
impl Incomplete {
    /// Has an example without a required argument.
    #[tool(examples({"to": "BGO"}))]
    fn incomplete(from: String, to: String) {
        drop((from, to));
    }
}

#[test]
fn examples_are_part_of_the_schema() {
    assert_eq!(
        trains::tool().spec().input.as_value()["examples"],
        json!([{"from": "OSL", "to": "BGO", "day": DAY}, {"from": "OSL", "to": "TRD", "stops": ["LIL"]}])
    );
}

#[test]
fn a_registry_rejects_a_tool_whose_example_does_not_satisfy_its_schema() {
    let error = Registry::new().add(Incomplete).unwrap_err().to_string();
    assert!(error.contains("examples"), "{error}");
    assert!(error.contains("does not satisfy the schema"), "{error}");
}
