//! Tools that a client defines in its request and runs itself.

use serde_json::{Value, json};
use toolwright_core::{ApprovalPolicy, Tool, ToolError, wire};

use crate::auth::request_context::CLIENT_TOOLS_BUNDLE;
use crate::endpoint::EndpointRuntime;

/// The tools that a client runs itself.
///
/// A call of one pauses the turn like an approval; the client sends the result as the answer to it.
#[derive(Default)]
pub(crate) struct ClientTools {
    pub(crate) tools: Vec<Tool>,
    /// As the client has sent them.
    pub(crate) definitions: Vec<Value>,
}

/// Parses the client's tool definitions; the error names the index of the definition.
pub(crate) fn parse_client_tools(
    definitions: &[Value],
    endpoint: &EndpointRuntime,
) -> Result<ClientTools, (usize, String)> {
    let snapshot = endpoint.invoker.snapshot().map_err(|error| (0, error.to_string()))?;
    let mut tools: Vec<Tool> = Vec::new();
    for (at, definition) in definitions.iter().enumerate() {
        let tool = parse_client_tool(definition).map_err(|why| (at, why))?;
        let name = tool.name();
        if snapshot.get(name.as_str()).is_some() {
            return Err((at, format!("the server has a tool `{name}` itself, and runs it")));
        }
        if tools.iter().any(|known| known.name() == name) {
            return Err((at, format!("`{name}` is there twice")));
        }
        tools.push(tool);
    }
    Ok(ClientTools { tools, definitions: definitions.to_vec() })
}

fn parse_client_tool(definition: &Value) -> Result<Tool, String> {
    let mut definition = definition.clone();
    let fields = match definition.get_mut("function") {
        Some(function) => function,
        None => &mut definition,
    };
    if let Some(fields) = fields.as_object_mut() {
        // A definition without `parameters` takes no arguments.
        let no_parameters = || json!({ "type": "object", "properties": {} });
        fields.entry("parameters").or_insert_with(no_parameters);
    }
    let read = wire::import_definitions(&json!([definition]).to_string())
        .map_err(|error| error.to_string())?;
    let read = read.into_iter().next().ok_or("it is no definition of a tool")?;
    let parsed = read.map_err(|refused| refused.to_string())?;
    let tool = Tool::builder(parsed.name, parsed.description)
        .imported(true)
        .bundle(CLIENT_TOOLS_BUNDLE)
        // The client expects the model to know them, however many tools the server has.
        .pinned(true)
        .approval(ApprovalPolicy::Always)
        .schema(parsed.input.as_value().clone())
        .and_then(|tool| {
            let why = "the client runs this tool, and has not sent its result";
            tool.run(move |_, _| Err::<String, _>(ToolError::failed(why)))
        });
    tool.map_err(|error| error.to_string())
}
