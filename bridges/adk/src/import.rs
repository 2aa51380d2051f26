//! adk's tools as ours.

use std::sync::Arc;

use adk_core::{ErrorCategory, FunctionResponseData, Tool, ToolContext};
use serde_json::{Value, json};
use toolwright::{Args, Content, DefineError, HandlerContext, ToolError};

use crate::tools::AdkContext;

/// Makes a tool of adk's ours.
///
/// Where a call comes out of an adk run, the tool is given the context of that run; anywhere else, the context that
/// `outside` makes. Without either it does not run.
///
/// # Errors
///
/// When its name or a schema is none that a tool of ours can have.
pub fn from_adk(
    tool: Arc<dyn Tool>,
    outside: impl Fn(&HandlerContext) -> Option<Arc<dyn ToolContext>> + Send + Sync + 'static,
) -> Result<toolwright::Tool, DefineError> {
    let schema = tool.parameters_schema();
    let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
    let mut ours = toolwright::Tool::import(tool.name(), tool.enhanced_description(), schema)?;
    if tool.is_read_only() {
        ours = ours.read_only(true);
    }
    if let Some(output) = tool.response_schema() {
        ours = ours.output_schema(output);
    }
    ours.bundle("adk").run_async(move |args: Args, cx| {
        let brought = cx.extension::<AdkContext>().map(|adk| Arc::clone(&adk.0));
        let (tool, theirs) = (Arc::clone(&tool), brought.or_else(|| outside(&cx)));
        async move {
            let missing = || ToolError::fatal("it needs an adk run: give it a context outside one");
            let theirs = theirs.ok_or_else(missing)?;
            let value = tool.execute(theirs, Value::Object(args.into_map())).await;
            value.map(to_contents).map_err(|error| match error.category {
                ErrorCategory::InvalidInput => ToolError::retry(error.message),
                _ => ToolError::failed(error.message),
            })
        }
    })
}

fn to_contents(value: Value) -> Vec<Content> {
    let data = FunctionResponseData::from_tool_result("", value);
    let text = data.response.as_str().map_or_else(|| data.response.to_string(), str::to_owned);
    let mut contents = vec![Content::text(text)];
    for part in data.inline_data {
        contents.push(match part.mime_type.starts_with("image/") {
            true => Content::image(part.mime_type, &part.data),
            false => Content::blob(part.uri.unwrap_or_default(), part.mime_type, &part.data),
        });
    }
    let files = data.file_data.iter().map(|file| file.file_uri.as_str());
    contents.extend(files.map(|uri| Content::link(uri, uri)));
    contents
}
