//! Tests of the `tools` array of a request and of the calls that a model sends.

mod budgets;
mod names;
mod random;
mod shapes;

use serde_json::{Value, json};
use toolwright_schema::{Dialect, Schema, validate_for, validate_tools_for};

use super::{CandidateTool, ToolPlan, ToolPlanner};
use crate::tool::policy::{Hints, StrictMode};

/// A tool that owns the data of a candidate.
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
            custom_format: None,
            allowed_callers: &[],
            bundle: "",
            deferred: false,
        }
    }
}

/// Plans tools and checks the result with both validators.
fn planned(planner: &ToolPlanner, dialect: Dialect, tools: &[Sample]) -> ToolPlan {
    let plan = planner.plan(tools);
    for tool in plan.tools() {
        let lowered = tool.lowered().unwrap();
        let refusals = validate_for(tool.dialect, lowered.schema());
        assert!(refusals.is_empty(), "{}: {refusals:?}", tool.name);
    }
    // A request with strict tools may contain others.
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

/// The names of the tools in strict mode.
fn strict(plan: &ToolPlan) -> Vec<&str> {
    let tools = plan.tools().iter();
    tools.filter(|tool| tool.dialect.is_strict()).map(|tool| tool.name.as_str()).collect()
}

fn omitted(plan: &ToolPlan) -> Vec<(&str, &str)> {
    let left = plan.omitted().iter();
    left.map(|tool| (tool.name.as_str(), tool.reason.as_str())).collect()
}
