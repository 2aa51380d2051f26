//! What an invoker is made with.

use std::any::{Any, TypeId};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolwright_schema::InputLimits;

use super::{Invoker, InvokerInner, InvokerOptions, ToolSource};
use crate::call::context::InvokerContext;
use crate::config::Config;
use crate::error::InvokerError;
use crate::invoker::approval::{ApprovalSigner, Approver};
use crate::invoker::audit::AuditSink;
use crate::registry::{ToolSettings, View};
use crate::tool::input_schema::PROJECT_DIR_PARAM;

/// How long a call may take, unless its tool says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// How many bytes of a result the model is sent.
const DEFAULT_OUTPUT_LIMIT: usize = 100_000;
/// How many calls of a batch run at once.
const DEFAULT_MAX_PARALLEL: usize = 8;

/// An invoker under construction.
pub struct InvokerBuilder {
    tools: View,
    invoker_context: InvokerContext,
    approval_signer: Option<ApprovalSigner>,
    options: InvokerOptions,
}

impl InvokerBuilder {
    pub(super) fn new(tools: View) -> Self {
        Self {
            tools,
            invoker_context: InvokerContext::default(),
            approval_signer: None,
            options: InvokerOptions {
                approver: None,
                audit: None,
                argument_limits: InputLimits::default(),
                coerce: true,
                timeout: Some(DEFAULT_TIMEOUT),
                output_limit: DEFAULT_OUTPUT_LIMIT,
                max_parallel: DEFAULT_MAX_PARALLEL,
                trace_content: false,
            },
        }
    }

    /// Gives tools a value to share, which they take as [`State<T>`](crate::State).
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        let state: Arc<dyn Any + Send + Sync> = Arc::new(state);
        self.invoker_context.state.insert(TypeId::of::<T>(), state);
        self
    }

    /// Sets the directory that tools work in; parameters named `project_dir` are filled in with it.
    #[must_use]
    pub fn project_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.invoker_context.project_dir = Some(directory.into().into());
        self
    }

    /// Sets the settings that tools take as [`Config`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Config, Invoker, Registry, ConfigSources, ToolCall, ToolError, tool};
    ///
    /// /// Greets somebody.
    /// #[tool(read_only)]
    /// fn greet(name: String, config: Config) -> Result<String, ToolError> {
    ///     let greeting: String = config.get("greet.greeting")?;
    ///     Ok(format!("{greeting}, {name}!"))
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let sources = ConfigSources::new().defaults([("greet.greeting", "Good morning")]);
    /// let registry = Registry::new();
    /// registry.add(greet::tool())?;
    /// let invoker = Invoker::builder(&registry).config(Config::load(sources)?.config).build()?;
    /// let result = invoker.invoke(&ToolCall::new("greet", r#"{"name": "Ada"}"#)).await;
    /// assert_eq!(result.text(), "Good morning, Ada!");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.invoker_context.config = config;
        self
    }

    /// Sets who is asked before calls that need approval.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.options.approver = Some(Arc::new(approver));
        self
    }

    /// Sets who makes and takes approvals: give several invokers the same key, and they accept each
    /// other's.
    #[must_use]
    pub fn approval_signer(mut self, approvals: ApprovalSigner) -> Self {
        self.approval_signer = Some(approvals);
        self
    }

    /// Keeps a record of every call, however it ends.
    #[must_use]
    pub fn audit(mut self, audit: impl AuditSink + 'static) -> Self {
        self.options.audit = Some(Arc::new(audit));
        self
    }

    /// Sets how long and how deeply nested arguments may be.
    #[must_use]
    pub fn argument_limits(mut self, limits: InputLimits) -> Self {
        self.options.argument_limits = limits;
        self
    }

    /// Sets whether arguments of another type are converted where nothing is lost by it.
    #[must_use]
    pub fn coerce(mut self, yes: bool) -> Self {
        self.options.coerce = yes;
        self
    }

    /// Sets how long a call may take where its tool does not say; `None` is as long as it likes.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Sets how many bytes of a result the model is sent; the whole is kept in the result.
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.options.output_limit = bytes;
        self
    }

    /// Sets how many calls of a batch run at once.
    #[must_use]
    pub fn max_parallel(mut self, most: usize) -> Self {
        self.options.max_parallel = most.max(1);
        self
    }

    /// Sets whether spans have the arguments and results of calls in them; they may hold anything that was said.
    #[must_use]
    pub fn trace_content(mut self, yes: bool) -> Self {
        self.options.trace_content = yes;
        self
    }

    /// Checks that every tool and prompt will have what it needs, and makes the invoker.
    ///
    /// # Errors
    ///
    /// When the tools cannot be listed, or one needs something that was not given.
    pub fn build(self) -> Result<Invoker, InvokerError> {
        let approvals = match self.approval_signer {
            Some(approvals) => approvals,
            None => ApprovalSigner::new().map_err(|error| InvokerError::NoRandomness {
                message: error.to_string(),
            })?,
        };
        let settings = Arc::new(ToolSettings::new(self.invoker_context.config.clone()));
        let tools = configure_and_check_view(self.tools.clone(), &self.invoker_context, &settings)?;
        Ok(Invoker(Arc::new(InvokerInner {
            base_view: self.tools,
            tool_source: ToolSource::Live(tools),
            invoker_context: Arc::new(self.invoker_context),
            tool_settings: settings,
            signer: Arc::new(approvals),
            options: self.options,
        })))
    }
}

/// Applies a set-up to tools, and checks that each of them will have what it needs.
pub(super) fn configure_and_check_view(
    tools: View,
    setup: &InvokerContext,
    settings: &Arc<ToolSettings>,
) -> Result<View, InvokerError> {
    let tools = configure_view(tools, setup, settings);
    let snapshot = tools.snapshot()?;
    let prompts = snapshot.prompts().map(|prompt| &prompt.registered_tool);
    for entry in snapshot.iter().chain(prompts) {
        for check in &entry.tool.0.checks {
            check(setup).map_err(|error| InvokerError::MissingDependency {
                tool: entry.spec.name.to_string(),
                message: error.message().to_owned(),
            })?;
        }
    }
    Ok(tools)
}

/// Applies a set-up to tools.
pub(super) fn configure_view(
    tools: View,
    setup: &InvokerContext,
    settings: &Arc<ToolSettings>,
) -> View {
    let tools = tools.bind_session().tool_settings(settings);
    match setup.project_dir() {
        Some(directory) => {
            tools.bind_unless_imported(PROJECT_DIR_PARAM, directory.to_string_lossy().into_owned())
        }
        None => tools,
    }
}
