//! adk's `FunctionTool` and its `#[tool]`: text → `Value` → typed arguments → `Value` → text.
//!
//! The tool is found by name in a map, as adk's agent does. The context, which the agent makes for each call, is shared,
//! and the agent's copies of the arguments are left out.

use std::{collections::HashMap, hint::black_box, sync::Arc};

use adk_tool::{AdkError, FunctionTool, SimpleToolContext, Tool, ToolContext, tool};
use serde_json::Value;
use toolwright_bench::{Comparison, order, order::plain, sum};

/// Places an order.
#[tool]
async fn place(args: plain::Args) -> Result<Value, AdkError> {
    to_value(plain::work(args.order, args.dry_run))
}

/// Adds two numbers.
#[tool]
async fn add(args: sum::Args) -> Result<Value, AdkError> {
    to_value(sum::add(args.a, args.b))
}

/// Adds the rows of the nested order.
pub fn add_order_rows(race: Comparison<'_>) -> Comparison<'_> {
    let function = FunctionTool::new("place", "Places an order.", async |_, args| {
        place(from_value(args)?).await
    })
    .with_parameters_schema::<plain::Args>();
    add_rows(race, Arc::new(function), Arc::new(Place), order::ARGUMENTS_JSON)
}

/// Adds the rows of the small call.
pub fn add_sum_rows(race: Comparison<'_>) -> Comparison<'_> {
    let function =
        FunctionTool::new("add", "Adds two numbers.", async |_, args| add(from_value(args)?).await)
            .with_parameters_schema::<sum::Args>();
    add_rows(race, Arc::new(function), Arc::new(Add), sum::ARGUMENTS_JSON)
}

fn add_rows<'a>(
    race: Comparison<'a>,
    function: Arc<dyn Tool>,
    annotated: Arc<dyn Tool>,
    text: &'static str,
) -> Comparison<'a> {
    let function = ToolCaller::new(function);
    let annotated = ToolCaller::new(annotated);
    race.add_async_function("adk FunctionTool", async move || function.call(black_box(text)).await)
        .add_async_function("adk #[tool]", async move || annotated.call(black_box(text)).await)
}

/// What adk's agent keeps to run tools.
pub(super) struct ToolCaller {
    name: String,
    tools: HashMap<String, Arc<dyn Tool>>,
    context: Arc<dyn ToolContext>,
}

impl ToolCaller {
    pub(super) fn new(tool: Arc<dyn Tool>) -> Self {
        let name = tool.name().to_owned();
        Self {
            tools: HashMap::from([(name.clone(), tool)]),
            name,
            context: Arc::new(SimpleToolContext::new("bench")),
        }
    }

    pub(super) async fn call(&self, text: &str) -> String {
        let tool = self.tools.get(black_box(&self.name)).unwrap().clone();
        let args = serde_json::from_str(text).unwrap();
        let value = tool.execute(self.context.clone(), args).await.unwrap();
        value.to_string()
    }
}

fn from_value<T: serde::de::DeserializeOwned>(args: Value) -> Result<T, AdkError> {
    serde_json::from_value(args).map_err(|e| AdkError::tool(e.to_string()))
}

fn to_value(result: impl serde::Serialize) -> Result<Value, AdkError> {
    serde_json::to_value(result).map_err(|e| AdkError::tool(e.to_string()))
}
