//! ToolCall in, ToolResult out.
//!
//! find → parse → default & coerce → validate → approve → inject → run → encode → cap & redact.
//! Each stage is a file; this one is their order.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::Value;
use toolwright_schema::InputLimits;

use crate::call::ToolCall;
use crate::call::context::{
    BlockingPermit, CallContext, CallScope, InvokerContext, LazyCancellationToken,
};
use crate::call::result::ToolResult;
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
use run::StartedCall;

/// The scope of whoever does not say who they are.
static ANONYMOUS_SCOPE: LazyLock<CallScope> = LazyLock::new(CallScope::new);

/// Runs calls; cheap to clone, all clones are one invoker.
///
/// Whatever a model sends, the answer is a [`ToolResult`]: unknown tools, broken arguments, panics
/// and timeouts included. A tool that does not return at once needs tokio's runtime and its timer.
///
/// # Cancellation
///
/// Dropping the future of a call cancels it: an async tool is dropped, a blocking one is told
/// through [`Cancel`](crate::Cancel).
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
/// let registry = Registry::new();
/// registry.add(add::tool())?;
/// let invoker = Invoker::new(&registry)?;
/// let result = invoker.invoke(&ToolCall::new("add", r#"{"a": 2, "b": 3}"#)).await;
/// assert_eq!(result.text(), "5");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Invoker(Arc<InvokerInner>);

#[derive(Clone)]
struct InvokerInner {
    /// The tools as they were given, before the set-up is applied to them.
    base_view: View,
    tool_source: ToolSource,
    invoker_context: Arc<InvokerContext>,
    /// What the set-up's settings count is counted for all that become of this invoker.
    tool_settings: Arc<ToolSettings>,
    signer: Arc<ApprovalSigner>,
    options: InvokerOptions,
}

/// The terms that all calls run under.
#[derive(Clone)]
struct InvokerOptions {
    approver: Option<Arc<dyn Approver>>,
    audit: Option<Arc<dyn AuditSink>>,
    argument_limits: InputLimits,
    coerce: bool,
    timeout: Option<Duration>,
    output_limit: usize,
    max_parallel: usize,
    /// Whether spans have arguments and results in them.
    trace_content: bool,
}

#[derive(Clone)]
enum ToolSource {
    Live(View),
    Fixed(Arc<Snapshot>),
}

impl Invoker {
    /// Makes an invoker of a registry or view, with everything else as it is by default.
    ///
    /// # Errors
    ///
    /// When the tools cannot be listed, or one needs something that was not given.
    pub fn new(tools: impl Into<View>) -> Result<Self, InvokerError> {
        Self::builder(tools).build()
    }

    /// Starts an invoker of a registry or view.
    pub fn builder(tools: impl Into<View>) -> InvokerBuilder {
        InvokerBuilder::new(tools.into())
    }

    /// Returns the tools and prompts as calls find them now.
    ///
    /// # Errors
    ///
    /// When the registry has changed so that they cannot be listed any more.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, RegistryError> {
        match &self.0.tool_source {
            ToolSource::Live(view) => view.snapshot(),
            ToolSource::Fixed(snapshot) => Ok(Arc::clone(snapshot)),
        }
    }

    /// Runs one call on behalf of an anonymous caller.
    pub async fn invoke(&self, call: &ToolCall) -> ToolResult {
        self.invoke_in(&ANONYMOUS_SCOPE, call).await
    }

    /// Runs one call on behalf of the scope's caller.
    pub async fn invoke_in(&self, scope: &CallScope, call: &ToolCall) -> ToolResult {
        let watch = self
            .0
            .options
            .audit
            .as_deref()
            .map(|audit| AuditGuard::new(audit, call, scope));
        let mut result = if trace::is_enabled() {
            let traced = self.0.options.trace_content;
            Box::pin(trace::run_in_span(call, traced, self.dispatch(scope, call))).await
        } else {
            self.dispatch(scope, call).await
        };
        result.call_id = call.id.clone();
        result.tool = call.name.clone();
        if let Some(watch) = watch {
            watch.finish(&result);
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
        let shown = snapshot
            .iter()
            .filter(|entry| entry.is_visible_to(&scope.caller));
        Ok(shown.cloned().collect())
    }

    /// Most calls are right as they stand and return at once: they cost no future. What does wait is
    /// boxed, because a future is moved with all the room it may ever need.
    async fn dispatch(&self, scope: &CallScope, call: &ToolCall) -> ToolResult {
        let snapshot = match self.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => return ToolError::from(error).into(),
        };
        let (entry, note) =
            match resolve::resolve_name(&snapshot.tools, call.name.as_str(), &scope.caller) {
                Ok(found) => found,
                Err(unknown) => return unknown,
            };
        let (cancel, permit) = (LazyCancellationToken::default(), BlockingPermit::default());
        let cx = CallContext {
            call,
            invoker_context: &self.0.invoker_context,
            scope,
            encoders: &snapshot.encoders,
            cancel: &cancel,
            blocking_permit: &permit,
        };
        let mut result = match self.try_fast_path(entry, &cx) {
            Some(StartedCall::Done(result)) => finalize::finalize(result, entry, None, &cx),
            Some(StartedCall::Pending(running, leave)) => {
                let limit = self.timeout_for(entry);
                let result = Box::pin(run::finish_started(running, leave, entry, limit, &cx)).await;
                finalize::finalize(result, entry, None, &cx)
            }
            None => Box::pin(self.run_outer_layers(entry, &cx)).await,
        };
        if let Some(note) = note {
            result.notes.insert(0, note);
        }
        finalize::enforce_output_limit(&mut result, self.0.options.output_limit);
        result
    }

    fn timeout_for(&self, entry: &RegisteredTool) -> Option<Duration> {
        entry.policy.timeout.or(self.0.options.timeout)
    }

    /// Starts a call that needs nobody's approval and nothing mended, if its tool is free.
    fn try_fast_path<'a>(
        &self,
        entry: &'a RegisteredTool,
        cx: &CallContext<'_>,
    ) -> Option<StartedCall<concurrency::Permit<'a>>> {
        let cancelled = cx
            .scope
            .cancel
            .as_ref()
            .is_some_and(|token| token.is_cancelled());
        if entry.tool.0.skip_fast_path
            || entry.needs_approval()
            || cancelled
            || !entry.layers.is_empty()
        {
            return None;
        }
        let leave = concurrency::try_acquire(entry, cx)?;
        let mut untidy = false;
        let started = run::start_catching_panics(leave, || {
            arguments::start_on_fast_path(entry, cx, &self.0.options.argument_limits)
                .unwrap_or_else(|| {
                    untidy = true;
                    Err(ToolError::retry(""))
                })
        });
        if untidy {
            // A blocking tool that is not started must give its permit back before it asks again.
            drop(cx.blocking_permit.take());
            return None;
        }
        Some(started)
    }

    /// Goes through the layers that stand before the arguments are read.
    async fn run_outer_layers(&self, entry: &RegisteredTool, cx: &CallContext<'_>) -> ToolResult {
        let (outer, inner) = entry.layers.split();
        if outer.is_empty() {
            return self.validate_and_run(entry, cx, inner).await;
        }
        let perform = || self.validate_and_run(entry, cx, inner).boxed();
        let next = Next::new(outer, layer_invocation(entry, cx, None), &perform);
        run::run_layers(next, cx.scope).await
    }

    /// Reads the arguments, asks whoever has to be asked, and runs the tool.
    async fn validate_and_run(
        &self,
        entry: &RegisteredTool,
        cx: &CallContext<'_>,
        inner: &[Arc<dyn Layer>],
    ) -> ToolResult {
        let accept = |text: &str| {
            arguments::validate(
                entry,
                text,
                cx,
                &self.0.options.argument_limits,
                self.0.options.coerce,
            )
        };
        let mut accepted = match accept(cx.call.arguments.as_str()) {
            Ok(accepted) => accepted,
            Err(refused) => return refused,
        };
        if entry.needs_approval() {
            match self.request_approval(entry, cx, &accepted.arguments).await {
                ApprovalStatus::Approved => {}
                ApprovalStatus::Edited(edited) => {
                    match accept(&without_bound_params(edited, entry, &accepted)) {
                        Ok(edited) => accepted = edited,
                        Err(refused) => return refused,
                    }
                }
                ApprovalStatus::Answered(result) => return result,
            }
        }
        let ValidatedArguments {
            prepared: ready,
            notes,
            arguments,
        } = accepted;
        let mut result = if inner.is_empty() {
            self.run(ready, entry, cx).await
        } else {
            let run = || self.run_validated(entry, cx, &arguments).boxed();
            let next = Next::new(inner, layer_invocation(entry, cx, Some(&arguments)), &run);
            run::run_layers(next, cx.scope).await
        };
        if !notes.is_empty() {
            result.notes.splice(0..0, notes);
        }
        finalize::finalize(result, entry, Some(&arguments), cx)
    }

    /// Runs a tool with arguments that were accepted, as often as a layer likes.
    async fn run_validated(
        &self,
        entry: &RegisteredTool,
        cx: &CallContext<'_>,
        arguments: &Value,
    ) -> ToolResult {
        match arguments::prepare_validated(entry, arguments) {
            Ok(ready) => self.run(ready, entry, cx).await,
            Err(refused) => refused,
        }
    }

    async fn run(
        &self,
        ready: Box<dyn PreparedCall>,
        entry: &RegisteredTool,
        cx: &CallContext<'_>,
    ) -> ToolResult {
        // A try that was given up is told so, and only that one.
        let (cancel, permit) = (LazyCancellationToken::default(), BlockingPermit::default());
        let cx = CallContext {
            cancel: &cancel,
            blocking_permit: &permit,
            ..*cx
        };
        run::run(ready, entry, self.timeout_for(entry), &cx).await
    }
}

fn layer_invocation<'a>(
    entry: &'a RegisteredTool,
    cx: &CallContext<'a>,
    arguments: Option<&'a Value>,
) -> Invocation<'a> {
    Invocation {
        call: cx.call,
        spec: &entry.spec,
        tool: &entry.tool,
        scope: cx.scope,
        arguments,
    }
}

/// Takes out what the view has bound and the editor left alone: it is not for anybody to send.
fn without_bound_params(
    mut edited: Value,
    entry: &RegisteredTool,
    accepted: &ValidatedArguments,
) -> String {
    if let Value::Object(edited) = &mut edited {
        edited.retain(|name, value| {
            !entry.hides_param(name) || accepted.arguments.get(name) != Some(&*value)
        });
    }
    edited.to_string()
}

impl fmt::Debug for Invoker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invoker")
            .field("setup", &self.0.invoker_context)
            .finish_non_exhaustive()
    }
}
