//! An invoker's tools as another framework is given them; calls as its model makes them in, results out.
//!
//! What every bridge has in common stands here, so that a bridge is only about the framework it leads to.

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
use crate::wire::{CandidateTool, PlannedTool, Shape, ToolPlan, ToolPlanner};

/// How an invoker's tools are offered to another framework.
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
/// let registry = Registry::new();
/// registry.add(add::tool())?;
/// let bridge = Bridge::new(&Invoker::new(&registry)?).dialect(Dialect::OPENAI);
///
/// // What a bridge does with it:
/// let offer = bridge.offer()?;
/// assert_eq!(offer.tools()[0].name, "add");
/// let result = offer.invoke(ToolCall::new("add", r#"{"a": 2, "b": null}"#)).await;
/// assert_eq!(result.text(), "3");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Bridge {
    invoker: Invoker,
    scope: CallScope,
    dialect: Dialect,
}

impl Bridge {
    /// Offers an invoker's tools with their schemas as they are, on behalf of an anonymous caller.
    pub fn new(invoker: &Invoker) -> Self {
        Self {
            invoker: invoker.clone(),
            scope: CallScope::new(),
            dialect: Dialect::MCP,
        }
    }

    /// Says which model is behind the framework: schemas are lowered to its dialect, and arguments lifted from it.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Says on whose behalf calls are made, as far as the framework does not say it itself.
    #[must_use]
    pub fn scope(mut self, scope: CallScope) -> Self {
        self.scope = scope;
        self
    }

    /// Offers the tools as they are now, to a framework that cannot ask for strict mode.
    ///
    /// # Errors
    ///
    /// When the tools cannot be listed, or one of them cannot be offered.
    pub fn export(&self) -> Result<ExportedTools, BridgeError> {
        self.export_with(Shape::OpenAiResponses, Some(StrictMode::Off))
    }

    /// Offers the tools as they are now, written as an API wants them, in strict mode where that loses nothing.
    ///
    /// # Errors
    ///
    /// As [`offer`](Bridge::offer).
    pub fn export_as(&self, shape: Shape) -> Result<ExportedTools, BridgeError> {
        self.export_with(shape, None)
    }

    fn export_with(
        &self,
        shape: Shape,
        strict: Option<StrictMode>,
    ) -> Result<ExportedTools, BridgeError> {
        let entries = self.invoker.list(&self.scope)?;
        let candidates = entries.iter().map(|entry| CandidateTool {
            strict: strict.unwrap_or(entry.policy().strict),
            ..CandidateTool::from(entry)
        });
        let dialect = match strict {
            Some(_) => self.dialect.non_strict(),
            None => self.dialect,
        };
        let plan = ToolPlanner::new(dialect).shape(shape).plan(candidates);
        if let Some(left) = plan.omitted().first() {
            return Err(BridgeError::rejected(&left.name, &left.reason));
        }
        let tools = plan.tools().iter().zip(entries);
        let tools = tools
            .map(|(planned, entry)| ExportedTool::new(planned, entry))
            .collect();
        Ok(ExportedTools(Arc::new(ExportInner {
            invoker: self.invoker.clone(),
            scope: self.scope.clone(),
            plan,
            tools,
        })))
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

/// Tools as a framework is given them, and the way back; cheap to clone.
#[derive(Clone, Debug)]
pub struct ExportedTools(Arc<ExportInner>);

#[derive(Debug)]
struct ExportInner {
    invoker: Invoker,
    scope: CallScope,
    plan: ToolPlan,
    tools: Vec<ExportedTool>,
}

/// One tool as a framework is given it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExportedTool {
    /// The name the model sees.
    pub name: String,
    /// What it does, and what its schema had no room for.
    pub description: String,
    /// What arguments must satisfy, in the dialect of the model.
    pub schema: Value,
    /// Whether the provider is to hold the model to the schema.
    pub strict: bool,
    /// The tool as it is in the registry: its hints, its output, how its calls are treated.
    pub registered_tool: RegisteredTool,
}

impl ExportedTool {
    fn new(planned: &PlannedTool, entry: RegisteredTool) -> Self {
        Self {
            name: planned.wire_name.clone(),
            description: planned.description.clone(),
            schema: planned.parameters(),
            strict: planned.dialect.is_strict(),
            registered_tool: entry,
        }
    }
}

impl ExportedTools {
    /// Returns the tools, in the order they are offered.
    pub fn tools(&self) -> &[ExportedTool] {
        &self.0.tools
    }

    /// Returns all definitions as an API wants them: JSON, in the shape that was asked for.
    pub fn tools_json(&self) -> &str {
        self.0.plan.json()
    }

    /// Returns on whose behalf calls are made, to be made more exact by what the framework knows of a call.
    pub fn scope(&self) -> CallScope {
        self.0.scope.clone()
    }

    /// Returns the invoker behind the tools.
    pub fn invoker(&self) -> &Invoker {
        &self.0.invoker
    }

    /// Runs a call as the model made it.
    pub async fn invoke(&self, call: ToolCall) -> ToolResult {
        self.invoke_in(&self.0.scope, call).await
    }

    /// Runs a call as the model made it, on behalf of a scope's caller.
    pub async fn invoke_in(&self, scope: &CallScope, call: ToolCall) -> ToolResult {
        let call = self.0.plan.lift(call);
        self.0.invoker.invoke_in(scope, &call).await
    }

    /// Runs calls as the model made them, as many at once as may be, and returns their results in the order of the calls.
    pub async fn invoke_all(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        let calls: Vec<ToolCall> = calls.into_iter().map(|call| self.lift(call)).collect();
        self.0.invoker.invoke_all_in(&self.0.scope, &calls).await
    }

    /// Returns a call from the form the model was shown to the tool's own.
    #[must_use]
    pub fn lift(&self, call: ToolCall) -> ToolCall {
        self.0.plan.lift(call)
    }
}

/// Why tools cannot be offered to a framework.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The tools cannot be listed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A tool cannot be said in the dialect, or the framework does not take it.
    #[error(
        "`{tool}` cannot be offered: {reason}; leave it out with a view, or offer it to another model"
    )]
    Rejected {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
}

impl BridgeError {
    /// Says that a framework does not take a tool, and why.
    pub fn rejected(tool: &str, reason: impl ToString) -> Self {
        Self::Rejected {
            tool: tool.to_owned(),
            reason: reason.to_string(),
        }
    }
}
