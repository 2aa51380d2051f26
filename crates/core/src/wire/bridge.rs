//! [`Bridge`]: exports an invoker's tools to another framework and runs its calls.
//!
//! Everything that the bridge crates have in common is here; a bridge crate only maps types.

use std::sync::Arc;

use serde_json::Value;
use toolwright_schema::Dialect;

use crate::call::ToolCall;
use crate::call::context::CallScope;
use crate::call::result::ToolResult;
use crate::error::RegistryError;
use crate::invoker::Invoker;
use crate::registry::RegisteredTool;
use crate::tool::policy::StrictMode;
use crate::wire::gateway::{ExportGateway, GatewayTools};
use crate::wire::{CandidateTool, PlannedTool, Shape, ToolPlan, ToolPlanner};

/// The invoker, caller and dialect for exporting tools to another framework.
///
/// # Examples
///
/// ```
/// use toolwright::schema::Dialect;
/// use toolwright::{Bridge, Invoker, Registry, ToolCall, tool};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: Option<i64>) -> i64 {
///     a + b.unwrap_or(1)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry = Registry::of(add::tool())?;
/// let bridge = Bridge::new(&Invoker::new(&registry)?).dialect(Dialect::OPENAI);
///
/// // A bridge crate does this:
/// let exported = bridge.export()?;
/// assert_eq!(exported.tools()[0].name, "add");
/// let result = exported.invoke(ToolCall::new("add", r#"{"a": 2, "b": null}"#)).await;
/// assert_eq!(result.text(), "3");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Bridge {
    invoker: Invoker,
    scope: CallScope,
    dialect: Dialect,
    gateway: Option<Arc<dyn ExportGateway>>,
}

impl Bridge {
    /// Makes a bridge with unchanged schemas and an anonymous caller.
    pub fn new(invoker: &Invoker) -> Self {
        let invoker = invoker.clone();
        Self { invoker, scope: CallScope::new(), dialect: Dialect::MCP, gateway: None }
    }

    /// Sets the dialect of the framework's model: schemas are lowered to it, and arguments lifted from it.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sets the scope of calls for which the framework has none.
    #[must_use]
    pub fn scope(mut self, scope: CallScope) -> Self {
        self.scope = scope;
        self
    }

    /// Exports the tools of a gateway and the pinned ones in place of all: `search::SearchGateway`, for many tools.
    #[must_use]
    pub fn gateway(mut self, gateway: impl ExportGateway) -> Self {
        self.gateway = Some(Arc::new(gateway));
        self
    }

    /// Exports the current tools to a framework without strict mode.
    ///
    /// # Errors
    ///
    /// When the view is not valid, or a tool cannot be exported.
    pub fn export(&self) -> Result<ExportedTools, BridgeError> {
        self.export_with(Shape::OpenAiResponses, Some(StrictMode::Off))
    }

    /// Exports the current tools in the shape of an API, in strict mode where that is lossless.
    ///
    /// # Errors
    ///
    /// As [`export`](Bridge::export).
    pub fn export_as(&self, shape: Shape) -> Result<ExportedTools, BridgeError> {
        self.export_with(shape, None)
    }

    fn export_with(
        &self,
        shape: Shape,
        strict: Option<StrictMode>,
    ) -> Result<ExportedTools, BridgeError> {
        let (invoker, tools, gateway) = self.select_tools()?;
        let candidates = tools.iter().map(|tool| CandidateTool {
            strict: strict.unwrap_or(tool.policy().strict),
            ..CandidateTool::from(tool)
        });
        let dialect = match strict {
            Some(_) => self.dialect.non_strict(),
            None => self.dialect,
        };
        let plan = ToolPlanner::new(dialect).shape(shape).plan(candidates);
        if let Some(omitted) = plan.omitted().first() {
            return Err(BridgeError::rejected(&omitted.name, &omitted.reason));
        }
        let tools = plan.tools().iter().zip(tools);
        let tools = tools.map(|(planned, tool)| ExportedTool::new(planned, tool)).collect();
        let scope = self.scope.clone();
        Ok(ExportedTools(Arc::new(ExportInner { invoker, scope, plan, tools, gateway })))
    }

    /// Returns the tools to export, and the invoker that runs their calls.
    fn select_tools(
        &self,
    ) -> Result<(Invoker, Vec<RegisteredTool>, Option<GatewayTools>), BridgeError> {
        let opened = match &self.gateway {
            Some(gateway) => gateway.open(&self.invoker, &self.scope, self.dialect)?,
            None => None,
        };
        let Some(gateway) = opened else {
            return Ok((self.invoker.clone(), self.invoker.list(&self.scope)?, None));
        };
        let invoker = self.invoker.with_added_tools(gateway.tools())?;
        let is_own = |tool: &RegisteredTool| {
            gateway.tools().iter().any(|own| *own.name() == tool.spec().name)
        };
        let (own, others): (Vec<_>, Vec<_>) =
            invoker.list(&self.scope)?.into_iter().partition(is_own);
        let pinned = others.into_iter().filter(|tool| tool.policy().pinned);
        // The gateway's first, so that they are not among those that a provider with a limit does not get.
        let tools = own.into_iter().chain(pinned).collect();
        Ok((invoker, tools, Some(gateway)))
    }
}

impl From<&Invoker> for Bridge {
    fn from(invoker: &Invoker) -> Self {
        Self::new(invoker)
    }
}

impl From<&Bridge> for Bridge {
    fn from(bridge: &Bridge) -> Self {
        bridge.clone()
    }
}

/// Exported tools, and the conversion of calls back to the invoker; cheap to clone.
#[derive(Clone, Debug)]
pub struct ExportedTools(Arc<ExportInner>);

#[derive(Debug)]
struct ExportInner {
    invoker: Invoker,
    scope: CallScope,
    plan: ToolPlan,
    tools: Vec<ExportedTool>,
    gateway: Option<GatewayTools>,
}

/// One exported tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExportedTool {
    /// The name the model sees.
    pub name: String,
    /// What the tool does, and constraints that its schema cannot express.
    pub description: String,
    /// The schema of the arguments, in the dialect of the model.
    pub schema: Value,
    /// Whether the provider has to enforce the schema.
    pub strict: bool,
    /// The tool in the registry, with its hints, output and policy.
    pub registered_tool: RegisteredTool,
}

impl ExportedTool {
    fn new(planned: &PlannedTool, registered_tool: RegisteredTool) -> Self {
        Self {
            name: planned.wire_name.clone(),
            description: planned.description.clone(),
            schema: planned.parameters(),
            strict: planned.dialect.is_strict(),
            registered_tool,
        }
    }
}

impl ExportedTools {
    /// Returns the tools in order.
    pub fn tools(&self) -> &[ExportedTool] {
        &self.0.tools
    }

    /// Returns all definitions as JSON, in the shape given to [`export_as`](Bridge::export_as).
    pub fn tools_json(&self) -> &str {
        self.0.plan.json()
    }

    /// Returns the scope of calls, to which a bridge may add what the framework knows of a call.
    pub fn scope(&self) -> CallScope {
        self.0.scope.clone()
    }

    /// Returns the invoker that runs the calls.
    pub fn invoker(&self) -> &Invoker {
        &self.0.invoker
    }

    /// Runs a call of the model.
    pub async fn invoke(&self, call: ToolCall) -> ToolResult {
        self.invoke_in(&self.0.scope, call).await
    }

    /// Runs a call of the model in a scope.
    pub async fn invoke_in(&self, scope: &CallScope, call: ToolCall) -> ToolResult {
        let call = self.lift_in(scope, call);
        self.0.invoker.invoke_in(scope, &call).await
    }

    /// Runs the calls of one step of the model, as [`Invoker::invoke_all_in`] does.
    pub async fn invoke_all(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        let calls: Vec<ToolCall> = calls.into_iter().map(|call| self.lift(call)).collect();
        self.0.invoker.invoke_all_in(&self.0.scope, &calls).await
    }

    /// Converts a call of the model to the tool's own name and schema.
    #[must_use]
    pub fn lift(&self, call: ToolCall) -> ToolCall {
        self.lift_in(&self.0.scope, call)
    }

    /// Converts a call of the model, in a scope, to the tool's own name and schema; one through a [gateway](Bridge::gateway) to a
    /// call of the tool that it names.
    #[must_use]
    pub fn lift_in(&self, scope: &CallScope, call: ToolCall) -> ToolCall {
        let call = self.0.plan.lift(call);
        match &self.0.gateway {
            Some(gateway) => gateway.resolve(scope, call),
            None => call,
        }
    }
}

/// Why tools cannot be exported to a framework.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The view is not valid.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A tool cannot be expressed in the dialect, or the framework rejects it.
    #[error(
        "`{tool}` cannot be offered: {reason}; leave it out with a view, or offer it to another model"
    )]
    Rejected {
        /// The tool.
        tool: String,
        /// The reason.
        reason: String,
    },
}

impl BridgeError {
    /// Makes the error for a tool that a framework rejects.
    pub fn rejected(tool: &str, reason: impl ToString) -> Self {
        Self::Rejected { tool: tool.to_owned(), reason: reason.to_string() }
    }
}
