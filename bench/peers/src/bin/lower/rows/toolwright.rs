//! Toolwright's `Schema::lower`, cold: every lap has schemas that have never been lowered.

use serde_json::Value;
use toolwright::schema::Schema;

use crate::comparison::LoweringComparison;

/// Adds the row that the others are compared with, and a row for schemas that are not lowered.
pub fn add_rows(contest: LoweringComparison<'_>) -> LoweringComparison<'_> {
    let (dialect, tools) = (contest.dialect, contest.tools);
    let schemas = || {
        let values = tools.iter().map(|tool| tool.input.clone());
        values.map(Schema::trusted).collect::<Vec<_>>()
    };
    let lowered = move |schemas: &mut Vec<Schema>| {
        for schema in schemas.iter() {
            schema.lower(dialect).unwrap();
        }
        // Cheap copies, to read the outcome from.
        schemas.clone()
    };
    let read = |schemas: &Vec<Schema>| -> Vec<Value> {
        let lowered = schemas.iter().map(|schema| schema.lower(dialect).unwrap());
        lowered.map(|lowered| lowered.schema().clone()).collect()
    };
    contest
        .add_row("Toolwright", schemas, lowered, read)
        .add_per_tool("as they are", |tool| tool.input.clone())
}
