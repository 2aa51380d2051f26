//! rig's typed `Tool` and its `DynamicTool`: text → typed arguments (or `Value`) → `ToolOutput` → text.

use std::{convert::Infallible, hint::black_box};

use rig::{
    message::ToolName,
    tool::{DynamicTool, PortableTool, ToolContext, ToolExecutionError, ToolOutput, ToolSet},
};
use schemars::schema_for;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use toolwright_bench::{
    Comparison,
    order::{self, Receipt, plain},
    sum,
};

struct Place;

impl PortableTool for Place {
    const NAME: &'static str = "place";
    type Args = plain::Args;
    type Output = Receipt;
    type Error = Infallible;

    fn description(&self) -> String {
        "Places an order.".into()
    }

    fn parameters(&self) -> Value {
        schema_for!(plain::Args).into()
    }

    async fn call(&self, args: plain::Args) -> Result<Receipt, Infallible> {
        Ok(plain::work(args.order, args.dry_run))
    }
}

struct Add;

impl PortableTool for Add {
    const NAME: &'static str = "add";
    type Args = sum::Args;
    type Output = i64;
    type Error = Infallible;

    fn description(&self) -> String {
        "Adds two numbers.".into()
    }

    fn parameters(&self) -> Value {
        schema_for!(sum::Args).into()
    }

    async fn call(&self, args: sum::Args) -> Result<i64, Infallible> {
        Ok(sum::add(args.a, args.b))
    }
}

/// Adds the rows of the nested order.
pub fn add_order_rows(race: Comparison<'_>) -> Comparison<'_> {
    let work = |args: plain::Args| plain::work(args.order, args.dry_run);
    let tool = dynamic("place", schema_for!(plain::Args).into(), work);
    add_rows(race, Place, tool, "place", order::ARGUMENTS_JSON)
}

/// Adds the rows of the small call.
pub fn add_sum_rows(race: Comparison<'_>) -> Comparison<'_> {
    let work = |args: sum::Args| sum::add(args.a, args.b);
    let tool = dynamic("add", schema_for!(sum::Args).into(), work);
    add_rows(race, Add, tool, "add", sum::ARGUMENTS_JSON)
}

fn add_rows<'a>(
    race: Comparison<'a>,
    typed: impl PortableTool + 'static,
    dynamic: DynamicTool,
    name: &'static str,
    text: &'static str,
) -> Comparison<'a> {
    let typed = ToolSet::from_tools(vec![typed]);
    let copied = typed.clone();
    let untyped = ToolSet::from_dynamic_tools(vec![dynamic.clone()]);
    race.add_async_function("rig RegisteredTool, Tool", async move || {
        call(&typed, name, black_box(text)).await
    })
    .add_async_function("rig RegisteredTool, DynamicTool", async move || {
        call(&untyped, name, black_box(text)).await
    })
    // Takes a `Value`, writes it out as text and parses that again.
    .add_async_function("rig DynamicTool::execute", async move || {
        let args: Value = serde_json::from_str(black_box(text)).unwrap();
        dynamic.execute(args).await.unwrap().render()
    })
    // Copies the tool with its schema for each call.
    .add_async_function("rig ToolSet::execute, Tool", async move || {
        let mut context = ToolContext::new();
        let result = copied.execute(name, black_box(text), &mut context).await;
        result.into_result().unwrap().render()
    })
}

pub(super) async fn call(tools: &ToolSet, name: &str, text: &str) -> String {
    let tool = tools.get(name).unwrap();
    let result = tool.execute(text.to_owned(), &mut ToolContext::new()).await;
    result.into_result().unwrap().render()
}

fn dynamic<A: DeserializeOwned + 'static, R: Serialize + 'static>(
    name: &str,
    parameters: Value,
    work: fn(A) -> R,
) -> DynamicTool {
    let name = ToolName::new(name).unwrap();
    DynamicTool::new(name, "What the typed tool does.", parameters, move |args| {
        Box::pin(async move {
            let args = serde_json::from_value(args).map_err(ToolExecutionError::from_error)?;
            let value = serde_json::to_value(work(args)).map_err(ToolExecutionError::from_error)?;
            Ok(ToolOutput::json(value))
        })
    })
}
