//! The tools of a request as they are sent, and the calls that come back.

mod budgets;
mod names;
mod random;
mod shapes;

use serde_json::{Value, json};
use toolwright_schema::{Dialect, Schema, validate_for, validate_tools_for};

use super::{CandidateTool, ToolPlan, ToolPlanner};
use crate::tool::policy::{Hints, StrictMode};

/// A tool that owns what a candidate borrows.
struct Sample {
    name: String,
    input: Schema,
    hints: Hints,
    strict: StrictMode,
}

impl Sample {
    fn new(name: &str, input: Value) -> Self {
        Self {
            name: name.to_owned(),
            input: Schema::check(input).unwrap(),
            hints: Hints::default(),
            strict: StrictMode::Auto,
        }
    }

    /// One closed object with these properties, all required.
    fn closed(name: &str, properties: Value) -> Self {
        let required: Value = properties.as_object().unwrap().keys().cloned().collect();
        Self::new(
            name,
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
        )
    }

    fn strict(mut self, strict: StrictMode) -> Self {
        self.strict = strict;
        self
    }

    fn destructive(mut self) -> Self {
        self.hints.destructive = Some(true);
        self
    }
}

impl<'a> From<&'a Sample> for CandidateTool<'a> {
    fn from(sample: &'a Sample) -> Self {
        Self {
            name: &sample.name,
            title: None,
            description: "Does it.",
            input: &sample.input,
            output: None,
            hints: sample.hints,
            strict: sample.strict,
        }
    }
}

/// Plans, and has both validators look at the outcome.
fn planned(planner: &ToolPlanner, dialect: Dialect, tools: &[Sample]) -> ToolPlan {
    let plan = planner.plan(tools);
    for tool in plan.tools() {
        let lowered = tool.lowered().unwrap();
        let refusals = validate_for(tool.dialect, lowered.schema());
        assert!(refusals.is_empty(), "{}: {refusals:?}", tool.name);
    }
    // A request for strict tools may carry others beside them.
    for (dialect, strict) in [(dialect.non_strict(), None), (dialect, Some(true))] {
        let all = plan.tools().iter();
        let names: Vec<&str> = all
            .filter(|tool| strict.is_none_or(|strict| tool.dialect.is_strict() == strict))
            .map(|tool| tool.wire_name.as_str())
            .collect();
        if !names.is_empty() {
            let refusals = validate_tools_for(dialect, names);
            assert!(refusals.is_empty(), "{dialect}: {refusals:?}");
        }
    }
    assert_eq!(plan.tools().len() + plan.omitted().len(), tools.len());
    serde_json::from_str::<Value>(plan.json()).unwrap();
    plan
}

fn plan(dialect: Dialect, tools: &[Sample]) -> ToolPlan {
    planned(&ToolPlanner::new(dialect), dialect, tools)
}

/// The names of the tools that are held to their schemas.
fn strict(plan: &ToolPlan) -> Vec<&str> {
    let tools = plan.tools().iter();
    tools
        .filter(|tool| tool.dialect.is_strict())
        .map(|tool| tool.name.as_str())
        .collect()
}

fn left_out(plan: &ToolPlan) -> Vec<(&str, &str)> {
    let left = plan.omitted().iter();
    left.map(|tool| (tool.name.as_str(), tool.reason.as_str()))
        .collect()
}
