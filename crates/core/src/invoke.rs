//! ToolCall in, ToolResult out.
//!
//! find → parse → default & coerce → validate → approve → inject → run → encode → cap & redact.
//! Each stage is a file; this one is their order.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::Value;
use toolwright_schema::Limits;

use crate::approve::{Approvals, Approve};
use crate::audit::{Audit, Watch};
use crate::call::ToolCall;
use crate::context::{CallContext, CancelSlot, PermitSlot, Scope, Setup};
use crate::define::Ready;
use crate::error::{InvokerError, RegistryError, ToolError};
use crate::layer::{Invocation, Layer, Next, concurrency, trace};
use crate::registry::{Entry, Settings, Snapshot, View};
use crate::result::ToolResult;

mod arguments;
mod batch;
mod builder;
mod change;
mod expand;
mod find;
mod finish;
mod pending;
mod permission;
mod render;
mod run;

pub use builder::InvokerBuilder;

use arguments::Accepted;
use permission::Permission;
use run::Started;

/// The scope of whoever does not say who they are.
static ANONYMOUS: LazyLock<Scope> = LazyLock::new(Scope::new);

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
pub struct Invoker(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    /// The tools as they were given, before the set-up is applied to them.
    given: View,
    source: Source,
    setup: Arc<Setup>,
    /// What the set-up's settings count is counted for all that become of this invoker.
    settings: Arc<Settings>,
    approvals: Arc<Approvals>,
    terms: Terms,
}

/// The terms that all calls run under.
#[derive(Clone)]
struct Terms {
    approver: Option<Arc<dyn Approve>>,
    audit: Option<Arc<dyn Audit>>,
    limits: Limits,
    coerce: bool,
    timeout: Option<Duration>,
    output: usize,
    parallel: usize,
    /// Whether spans have arguments and results in them.
    traced: bool,
}

#[derive(Clone)]
enum Source {
    Live(View),
    Pinned(Arc<Snapshot>),
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
        match &self.0.source {
            Source::Live(view) => view.snapshot(),
            Source::Pinned(snapshot) => Ok(Arc::clone(snapshot)),
        }
    }

    /// Runs one call on behalf of an anonymous caller.
    pub async fn invoke(&self, call: &ToolCall) -> ToolResult {
        self.invoke_in(&ANONYMOUS, call).await
    }

    /// Runs one call on behalf of the scope's caller.
    pub async fn invoke_in(&self, scope: &Scope, call: &ToolCall) -> ToolResult {
        let watch = self
            .0
            .terms
            .audit
            .as_deref()
            .map(|audit| Watch::new(audit, call, scope));
        let mut result = if trace::is_wanted() {
            let traced = self.0.terms.traced;
            Box::pin(trace::around(call, traced, self.dispatch(scope, call))).await
        } else {
            self.dispatch(scope, call).await
        };
        result.call = call.id.clone();
        result.tool = call.name.clone();
        if let Some(watch) = watch {
            watch.end(&result);
        }
        result
    }

    /// Returns the tools that the scope's caller may see.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn list(&self, scope: &Scope) -> Result<Vec<Entry>, RegistryError> {
        let snapshot = self.snapshot()?;
        let shown = snapshot
            .iter()
            .filter(|entry| entry.shows_to(&scope.caller));
        Ok(shown.cloned().collect())
    }

    /// Most calls are right as they stand and return at once: they cost no future. What does wait is
    /// boxed, because a future is moved with all the room it may ever need.
    async fn dispatch(&self, scope: &Scope, call: &ToolCall) -> ToolResult {
        let snapshot = match self.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => return ToolError::from(error).into(),
        };
        let (entry, note) = match find::find(&snapshot.tools, call.name.as_str(), &scope.caller) {
            Ok(found) => found,
            Err(unknown) => return unknown,
        };
        let (cancel, permit) = (CancelSlot::default(), PermitSlot::default());
        let cx = CallContext {
            call,
            setup: &self.0.setup,
            scope,
            encoders: &snapshot.encoders,
            cancel: &cancel,
            permit: &permit,
        };
        let mut result = match self.at_once(entry, &cx) {
            Some(Started::Done(result)) => finish::finish(result, entry, None, &cx),
            Some(Started::GoesOn(running, leave)) => {
                let limit = self.limit(entry);
                let result = Box::pin(run::go_on(running, leave, entry, limit, &cx)).await;
                finish::finish(result, entry, None, &cx)
            }
            None => Box::pin(self.layered(entry, &cx)).await,
        };
        if let Some(note) = note {
            result.notes.insert(0, note);
        }
        finish::cap(&mut result, self.0.terms.output);
        result
    }

    fn limit(&self, entry: &Entry) -> Option<Duration> {
        entry.policy.timeout.or(self.0.terms.timeout)
    }

    /// Starts a call that needs nobody's approval and nothing mended, if its tool is free.
    fn at_once<'a>(
        &self,
        entry: &'a Entry,
        cx: &CallContext<'_>,
    ) -> Option<Started<concurrency::Leave<'a>>> {
        let cancelled = cx
            .scope
            .cancel
            .as_ref()
            .is_some_and(|token| token.is_cancelled());
        if entry.tool.0.careful || entry.needs_approval() || cancelled || !entry.layers.is_empty() {
            return None;
        }
        let leave = concurrency::at_once(entry, cx)?;
        let mut untidy = false;
        let started = run::start(leave, || {
            arguments::start(entry, cx, &self.0.terms.limits).unwrap_or_else(|| {
                untidy = true;
                Err(ToolError::retry(""))
            })
        });
        if untidy {
            // A blocking tool that is not started must give its permit back before it asks again.
            drop(cx.permit.take());
            return None;
        }
        Some(started)
    }

    /// Goes through the layers that stand before the arguments are read.
    async fn layered(&self, entry: &Entry, cx: &CallContext<'_>) -> ToolResult {
        let (outer, inner) = entry.layers.split();
        if outer.is_empty() {
            return self.perform(entry, cx, inner).await;
        }
        let perform = || self.perform(entry, cx, inner).boxed();
        let next = Next::new(outer, invocation(entry, cx, None), &perform);
        run::through(next, cx.scope).await
    }

    /// Reads the arguments, asks whoever has to be asked, and runs the tool.
    async fn perform(
        &self,
        entry: &Entry,
        cx: &CallContext<'_>,
        inner: &[Arc<dyn Layer>],
    ) -> ToolResult {
        let accept = |text: &str| {
            arguments::accept(entry, text, cx, &self.0.terms.limits, self.0.terms.coerce)
        };
        let mut accepted = match accept(cx.call.arguments.as_str()) {
            Ok(accepted) => accepted,
            Err(refused) => return refused,
        };
        if entry.needs_approval() {
            match self.permission(entry, cx, &accepted.arguments).await {
                Permission::Granted => {}
                Permission::Edited(edited) => match accept(&unbound(edited, entry, &accepted)) {
                    Ok(edited) => accepted = edited,
                    Err(refused) => return refused,
                },
                Permission::Answered(result) => return result,
            }
        }
        let Accepted {
            ready,
            notes,
            arguments,
        } = accepted;
        let mut result = if inner.is_empty() {
            self.run(ready, entry, cx).await
        } else {
            let run = || self.run_again(entry, cx, &arguments).boxed();
            let next = Next::new(inner, invocation(entry, cx, Some(&arguments)), &run);
            run::through(next, cx.scope).await
        };
        if !notes.is_empty() {
            result.notes.splice(0..0, notes);
        }
        finish::finish(result, entry, Some(&arguments), cx)
    }

    /// Runs a tool with arguments that were accepted, as often as a layer likes.
    async fn run_again(
        &self,
        entry: &Entry,
        cx: &CallContext<'_>,
        arguments: &Value,
    ) -> ToolResult {
        match arguments::read(entry, arguments) {
            Ok(ready) => self.run(ready, entry, cx).await,
            Err(refused) => refused,
        }
    }

    async fn run(&self, ready: Box<dyn Ready>, entry: &Entry, cx: &CallContext<'_>) -> ToolResult {
        // A try that was given up is told so, and only that one.
        let (cancel, permit) = (CancelSlot::default(), PermitSlot::default());
        let cx = CallContext {
            cancel: &cancel,
            permit: &permit,
            ..*cx
        };
        run::run(ready, entry, self.limit(entry), &cx).await
    }
}

fn invocation<'a>(
    entry: &'a Entry,
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
fn unbound(mut edited: Value, entry: &Entry, accepted: &Accepted) -> String {
    if let Value::Object(edited) = &mut edited {
        edited.retain(|name, value| {
            !entry.hides(name) || accepted.arguments.get(name) != Some(&*value)
        });
    }
    edited.to_string()
}

impl fmt::Debug for Invoker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invoker")
            .field("setup", &self.0.setup)
            .finish_non_exhaustive()
    }
}
