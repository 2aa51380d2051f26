//! [`Invoker`]: runs a [`ToolCall`] and returns a [`ToolResult`].
//!
//! resolve → parse → default & coerce → validate → approve → inject → run → encode → cap & redact.
//! Each stage is a file; this one calls them in order.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::Value;
use toolwright_schema::InputLimits;

use crate::call::context::{CallContext, CallScope, InvokerContext, RunState};
use crate::call::result::ToolResult;
use crate::call::{Arguments, ToolCall, ToolName};
use crate::error::{InvokerError, RegistryError, ToolError};
use crate::invoker::approval::{ApprovalSigner, Approver};
use crate::invoker::audit::{AuditGuard, AuditSink};
use crate::layer::{Invocation, Layer, Next, concurrency, trace};
use crate::registry::{RegisteredTool, Snapshot, ToolSettings, View};
use crate::tool::definition::PreparedCall;

pub(crate) mod approval;
mod arguments;
pub(crate) mod audit;
mod batch;
mod builder;
mod finalize;
mod reconfigure;
mod render_prompt;
mod resolve;
mod run;

pub use builder::InvokerBuilder;

use approval::request_approval::ApprovalStatus;
use arguments::ValidatedArguments;
use run::{PendingOutput, StartedCall};

/// The scope of calls without one: an anonymous caller.
static ANONYMOUS_SCOPE: LazyLock<CallScope> = LazyLock::new(CallScope::new);

/// Runs calls; cheap to clone, all clones are one invoker.
///
/// Every call has a [`ToolResult`], also one with an unknown tool or broken arguments, one that panics
/// and one that times out. A tool that does not return at once needs tokio's runtime and its timer.
///
/// # Cancellation
///
/// Dropping the future of a call cancels it: the future of an async tool is dropped, a blocking tool is
/// notified by [`Cancel`](crate::Cancel).
///
/// # Examples
///
/// ```
/// use toolwright::{Invoker, Registry, ToolCall, tool};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry = Registry::of(add::tool())?;
/// let invoker = Invoker::new(&registry)?;
/// let result = invoker.invoke(&ToolCall::new("add", r#"{"a": 2, "b": 3}"#)).await;
/// assert_eq!(result.text(), "5");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Invoker(Arc<InvokerInner>);

#[derive(Clone)]
struct InvokerInner {
    /// The tools without the settings and bound parameters of the invoker.
    base_view: View,
    tool_source: ToolSource,
    invoker_context: Arc<InvokerContext>,
    /// Shared with all invokers derived from this one, so that rate limits count their calls together.
    tool_settings: Arc<ToolSettings>,
    signer: Arc<ApprovalSigner>,
    options: InvokerOptions,
}

/// The options of all calls.
#[derive(Clone)]
struct InvokerOptions {
    approver: Option<Arc<dyn Approver>>,
    audit: Option<Arc<dyn AuditSink>>,
    argument_limits: InputLimits,
    coerce: bool,
    timeout: Option<Duration>,
    output_limit: usize,
    max_parallel: usize,
    /// Whether spans record arguments and results.
    trace_content: bool,
}

#[derive(Clone)]
enum ToolSource {
    Live(View),
    Fixed(Arc<Snapshot>),
}

impl Invoker {
    /// Makes an invoker of a registry or view, with default options.
    ///
    /// # Errors
    ///
    /// When the view is not valid, or a tool needs state, a project directory or a setting that is missing.
    pub fn new(tools: impl Into<View>) -> Result<Self, InvokerError> {
        Self::builder(tools).build()
    }

    /// Starts the builder of an invoker of a registry or view.
    pub fn builder(tools: impl Into<View>) -> InvokerBuilder {
        InvokerBuilder::new(tools.into())
    }

    /// Returns the state of type `T` that its tools get, if there is one.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.invoker_context.state()
    }

    /// Returns the tools and prompts that calls find at this moment.
    ///
    /// # Errors
    ///
    /// When the registry has changed so that the view is no longer valid.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, RegistryError> {
        match &self.0.tool_source {
            ToolSource::Live(view) => view.snapshot(),
            ToolSource::Fixed(snapshot) => Ok(Arc::clone(snapshot)),
        }
    }

    /// Calls a tool by its name for an anonymous caller.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{ApprovalRequest, Invoker, Registry, tool};
    ///
    /// /// Refunds an order.
    /// #[tool(destructive)]
    /// fn refund(order: u32) -> String {
    ///     format!("order {order} is refunded")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let invoker = Invoker::builder(Registry::of(refund::tool())?)
    ///     .approver(|request: ApprovalRequest<'_>| match request.arguments["order"].as_u64() {
    ///         Some(7) => request.approve(),
    ///         _ => request.deny("ask the manager"),
    ///     })
    ///     .build()?;
    /// assert_eq!(invoker.call("refund", r#"{"order": 7}"#).await.text(), "order 7 is refunded");
    /// assert!(invoker.call("refund", r#"{"order": 8}"#).await.is_error());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn call(
        &self,
        name: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> ToolResult {
        self.invoke(&ToolCall::new(name, arguments)).await
    }

    /// Runs one call for an anonymous caller.
    pub async fn invoke(&self, call: &ToolCall) -> ToolResult {
        self.invoke_in(&ANONYMOUS_SCOPE, call).await
    }

    /// Runs one call for the scope's caller.
    pub async fn invoke_in(&self, scope: &CallScope, call: &ToolCall) -> ToolResult {
        let audit_guard =
            self.0.options.audit.as_deref().map(|audit| AuditGuard::new(audit, call, scope));
        let mut result = if trace::is_enabled() {
            let content = self.0.options.trace_content;
            Box::pin(trace::run_in_span(call, content, self.dispatch(scope, call))).await
        } else {
            self.dispatch(scope, call).await
        };
        result.call_id = call.id.clone();
        result.tool = call.name.clone();
        if let Some(audit_guard) = audit_guard {
            audit_guard.finish(&result);
        }
        result
    }

    /// Returns the tools that the scope's caller may see.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn list(&self, scope: &CallScope) -> Result<Vec<RegisteredTool>, RegistryError> {
        let snapshot = self.snapshot()?;
        let visible = snapshot.iter().filter(|tool| tool.is_visible_to(&scope.caller));
        let visible = visible.filter(|tool| scope.is_child || !tool.policy().internal);
        Ok(visible.cloned().collect())
    }

    /// Most calls have valid arguments and return at once, or at the first poll: they need no box. The other futures are
    /// boxed, because an unboxed one would make the future of every call larger.
    async fn dispatch(&self, scope: &CallScope, call: &ToolCall) -> ToolResult {
        let snapshot = match self.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => return ToolError::from(error).into(),
        };
        let (tool, note) = match resolve::resolve_name(&snapshot.tools, call.name.as_str(), scope) {
            Ok(found) => found,
            Err(result) => return result,
        };
        let run = RunState::default();
        let cx = self.call_context(scope, call, &snapshot, &run);
        let started = self.try_fast_path(tool, &cx);
        let is_fast = started.is_some();
        let mut result = match started {
            Some(StartedCall::Done(result)) => result,
            Some(StartedCall::Pending(output, permit)) => {
                self.finish_started(output, permit, tool, &cx).await
            }
            None => Box::pin(self.run_outer_layers(tool, &cx)).await,
        };
        if is_fast {
            finalize::finalize(&mut result, tool, None, &cx);
        }
        if let Some(note) = note {
            result.notes.insert(0, note);
        }
        finalize::enforce_output_limit(&mut result, self.0.options.output_limit);
        result
    }

    async fn finish_started<'a>(
        &self,
        output: PendingOutput,
        permit: concurrency::Permit<'a>,
        tool: &'a RegisteredTool,
        cx: &CallContext<'_>,
    ) -> ToolResult {
        match run::poll_started(output, permit, tool).await {
            StartedCall::Done(result) => result,
            StartedCall::Pending(output, permit) => {
                let limit = self.timeout_for(tool);
                Box::pin(run::finish_started(output, permit, tool, limit, cx)).await
            }
        }
    }

    fn call_context<'a>(
        &'a self,
        scope: &'a CallScope,
        call: &'a ToolCall,
        snapshot: &'a Snapshot,
        run: &'a RunState,
    ) -> CallContext<'a> {
        CallContext {
            call,
            invoker: self,
            invoker_context: &self.0.invoker_context,
            scope,
            encoders: &snapshot.encoders,
            run,
        }
    }

    fn timeout_for(&self, tool: &RegisteredTool) -> Option<Duration> {
        tool.policy.timeout.or(self.0.options.timeout)
    }

    /// Starts a call that needs neither approval nor layers nor repair, if its tool has a free permit.
    fn try_fast_path<'a>(
        &self,
        tool: &'a RegisteredTool,
        cx: &CallContext<'_>,
    ) -> Option<StartedCall<concurrency::Permit<'a>>> {
        if tool.tool.0.skip_fast_path
            || tool.needs_approval()
            || cx.scope.is_cancelled()
            || !tool.layers.is_empty()
        {
            return None;
        }
        let permit = concurrency::try_acquire(tool, cx)?;
        let mut needs_slow_path = false;
        let started = run::start_catching_panics(permit, || {
            arguments::start_on_fast_path(tool, cx, &self.0.options.argument_limits).unwrap_or_else(
                || {
                    needs_slow_path = true;
                    Err(ToolError::retry(""))
                },
            )
        });
        if needs_slow_path {
            // A blocking tool that was not started must release its permit before it acquires another.
            drop(cx.run.blocking_permit.take());
            return None;
        }
        Some(started)
    }

    /// Runs the layers whose position is before parsing, then the call.
    async fn run_outer_layers(&self, tool: &RegisteredTool, cx: &CallContext<'_>) -> ToolResult {
        let (outer, inner) = tool.layers.split();
        if outer.is_empty() {
            return self.validate_and_run(tool, cx, inner).await;
        }
        let innermost = || self.validate_and_run(tool, cx, inner).boxed();
        let next = Next::new(outer, layer_invocation(tool, cx, None), &innermost);
        run::run_layers(next, cx.scope).await
    }

    /// Validates the arguments, requests approval if the tool needs it, and runs the inner layers and the tool.
    async fn validate_and_run(
        &self,
        tool: &RegisteredTool,
        cx: &CallContext<'_>,
        inner: &[Arc<dyn Layer>],
    ) -> ToolResult {
        let options = &self.0.options;
        let validate = |arguments: &Arguments| {
            arguments::validate(tool, arguments, cx, &options.argument_limits, options.coerce)
        };
        let mut validated = match validate(&cx.call.arguments) {
            Ok(validated) => validated,
            Err(rejected) => return rejected,
        };
        if tool.needs_approval() {
            match self.request_approval(tool, cx, &validated.arguments).await {
                ApprovalStatus::Approved => {}
                ApprovalStatus::Edited(edited) => {
                    match validate(&without_bound_params(edited, tool, &validated)) {
                        Ok(edited) => validated = edited,
                        Err(rejected) => return rejected,
                    }
                }
                ApprovalStatus::Answered(result) => return result,
            }
        }
        let ValidatedArguments { prepared, notes, arguments } = validated;
        let mut result = if inner.is_empty() {
            self.run(prepared, tool, cx).await
        } else {
            let run = || self.run_validated(tool, cx, &arguments).boxed();
            let next = Next::new(inner, layer_invocation(tool, cx, Some(&arguments)), &run);
            run::run_layers(next, cx.scope).await
        };
        if !notes.is_empty() {
            result.notes.splice(0..0, notes);
        }
        finalize::finalize(&mut result, tool, Some(&arguments), cx);
        result
    }

    /// Runs a tool with validated arguments; a retry layer does this several times.
    async fn run_validated(
        &self,
        tool: &RegisteredTool,
        cx: &CallContext<'_>,
        arguments: &Value,
    ) -> ToolResult {
        match arguments::prepare_validated(tool, arguments) {
            Ok(prepared) => self.run(prepared, tool, cx).await,
            Err(rejected) => rejected,
        }
    }

    async fn run(
        &self,
        prepared: Box<dyn PreparedCall>,
        tool: &RegisteredTool,
        cx: &CallContext<'_>,
    ) -> ToolResult {
        // Each attempt has its own cancellation token: a timeout cancels only its attempt.
        let run = RunState::default();
        let cx = CallContext { run: &run, ..*cx };
        run::run(prepared, tool, self.timeout_for(tool), &cx).await
    }
}

fn layer_invocation<'a>(
    tool: &'a RegisteredTool,
    cx: &CallContext<'a>,
    arguments: Option<&'a Value>,
) -> Invocation<'a> {
    Invocation {
        call: cx.call,
        spec: &tool.spec,
        tool: &tool.tool,
        scope: cx.scope,
        arguments,
        shared_state: cx.invoker_context.shared_state.as_ref(),
    }
}

/// Removes bound parameters that the approver left unchanged: validation rejects a bound parameter that is sent.
fn without_bound_params(
    mut edited: Value,
    tool: &RegisteredTool,
    validated: &ValidatedArguments,
) -> Arguments {
    if let Value::Object(edited) = &mut edited {
        edited.retain(|name, value| {
            !tool.hides_param(name) || validated.arguments.get(name) != Some(&*value)
        });
    }
    edited.into()
}

impl fmt::Debug for Invoker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invoker").field("context", &self.0.invoker_context).finish_non_exhaustive()
    }
}
