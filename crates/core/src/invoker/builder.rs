//! [`InvokerBuilder`]: the state and options of an invoker.

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
use crate::shared_state::SharedState;
use crate::tool::input_schema::PROJECT_DIR_PARAM;

/// The time limit of a call whose tool has none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum size of a result that is sent to the model, in bytes.
const DEFAULT_OUTPUT_LIMIT: usize = 100_000;
/// The maximum number of concurrent calls of a batch.
const DEFAULT_MAX_PARALLEL: usize = 8;

/// The builder of an [`Invoker`].
pub struct InvokerBuilder {
    tools: View,
    invoker_context: InvokerContext,
    approval_signer: Option<ApprovalSigner>,
    approval_timeout: Option<Duration>,
    options: InvokerOptions,
}

impl InvokerBuilder {
    pub(super) fn new(tools: View) -> Self {
        Self {
            tools,
            invoker_context: InvokerContext::default(),
            approval_signer: None,
            approval_timeout: None,
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

    /// Adds a value shared by all calls, which tools receive as [`State<T>`](crate::State).
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        let state: Arc<dyn Any + Send + Sync> = Arc::new(state);
        self.invoker_context.state.insert(TypeId::of::<T>(), state);
        self
    }

    /// Declares state of type `T` that this invoker does not have, so that it can be built to list and check tools.
    ///
    /// A call of a tool that needs the state fails.
    #[must_use]
    pub fn declare_state<T: Send + Sync + 'static>(mut self) -> Self {
        self.invoker_context.declared_state.insert(TypeId::of::<T>());
        self
    }

    /// Sets the directory that tools work in; parameters named `project_dir` receive it.
    #[must_use]
    pub fn project_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.invoker_context.project_dir = Some(directory.into().into());
        self
    }

    /// Sets the settings, which tools receive as [`Config`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Config, Invoker, Registry, ConfigSources, ToolCall, ToolError, tool};
    ///
    /// /// Greets a person.
    /// #[tool(read_only)]
    /// fn greet(name: String, config: Config) -> Result<String, ToolError> {
    ///     let greeting: String = config.get("greet.greeting")?;
    ///     Ok(format!("{greeting}, {name}!"))
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let sources = ConfigSources::new().defaults([("greet.greeting", "Good morning")]);
    /// let registry = Registry::of(greet::tool())?;
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

    /// Sets the state that all nodes share, with which [rate limits](crate::RateLimit) count the calls of all nodes together; by
    /// default, each process counts its own.
    #[must_use]
    pub fn shared_state(mut self, state: impl SharedState) -> Self {
        self.invoker_context.shared_state = Some(Arc::new(state));
        self
    }

    /// Sets the approver of calls that need approval; without one they are denied.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.options.approver = Some(Arc::new(approver));
        self
    }

    /// Sets the key that approvals are signed with. Invokers with the same key accept each other's approvals; by default each
    /// invoker has a random key.
    #[must_use]
    pub fn approval_key(self, key: impl Into<String>) -> Self {
        self.approval_signer(ApprovalSigner::with_key(key))
    }

    /// Sets the time that an approver has to decide, and for which an approval is valid; 10 minutes by default.
    #[must_use]
    pub fn approval_timeout(mut self, timeout: Duration) -> Self {
        self.approval_timeout = Some(timeout);
        self
    }

    /// Sets the signer of approval tokens.
    #[doc(hidden)]
    #[must_use]
    pub fn approval_signer(mut self, signer: ApprovalSigner) -> Self {
        self.approval_signer = Some(signer);
        self
    }

    /// Sets the sink that receives a record of every call, however it ends.
    #[must_use]
    pub fn audit(mut self, audit: impl AuditSink + 'static) -> Self {
        self.options.audit = Some(Arc::new(audit));
        self
    }

    /// Sets the maximum size and nesting depth of arguments.
    #[must_use]
    pub fn argument_limits(mut self, limits: InputLimits) -> Self {
        self.options.argument_limits = limits;
        self
    }

    /// Sets whether arguments of another type are converted where that is lossless; true by default.
    #[must_use]
    pub fn coerce(mut self, yes: bool) -> Self {
        self.options.coerce = yes;
        self
    }

    /// Sets the time limit of calls whose tool has none; 60 s by default, `None` means no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Sets the maximum size of a result that is sent to the model, in bytes; 100,000 by default. The whole output is
    /// kept in [`ToolResult::untruncated`](crate::ToolResult::untruncated).
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.options.output_limit = bytes;
        self
    }

    /// Sets the maximum number of concurrent calls of a batch, at least 1; 8 by default.
    #[must_use]
    pub fn max_parallel(mut self, limit: usize) -> Self {
        self.options.max_parallel = limit.max(1);
        self
    }

    /// Sets whether spans record arguments and results, which may contain personal data; false by default.
    #[must_use]
    pub fn trace_content(mut self, yes: bool) -> Self {
        self.options.trace_content = yes;
        self
    }

    /// Makes the invoker, after checking that it has the state and settings that the tools and prompts need.
    ///
    /// # Errors
    ///
    /// When the view is not valid, or a tool needs state, a project directory or a setting that is missing.
    pub fn build(self) -> Result<Invoker, InvokerError> {
        self.build_unchecked()?.check_dependencies()
    }

    /// Makes the invoker; a tool whose state or settings are missing fails when it is called.
    pub(crate) fn build_unchecked(self) -> Result<Invoker, InvokerError> {
        let signer = match self.approval_signer {
            Some(signer) => signer,
            None => ApprovalSigner::new()
                .map_err(|error| InvokerError::NoRandomness { message: error.to_string() })?,
        };
        let signer = match self.approval_timeout {
            Some(timeout) => signer.lifetime(timeout),
            None => signer,
        };
        let settings = Arc::new(ToolSettings::new(self.invoker_context.config.clone()));
        let tools = configure_view(self.tools.clone(), &self.invoker_context, &settings);
        Ok(Invoker(Arc::new(InvokerInner {
            base_view: self.tools,
            tool_source: ToolSource::Live(tools),
            invoker_context: Arc::new(self.invoker_context),
            tool_settings: settings,
            signer: Arc::new(signer),
            options: self.options,
        })))
    }
}

impl Invoker {
    /// Checks that the context has the state and settings that the tools and prompts need.
    pub(super) fn check_dependencies(self) -> Result<Self, InvokerError> {
        let snapshot = self.snapshot()?;
        let prompts = snapshot.prompts().map(|prompt| &prompt.registered_tool);
        for tool in snapshot.iter().chain(prompts) {
            for check in &tool.tool.0.checks {
                check(&self.0.invoker_context).map_err(|error| {
                    InvokerError::MissingDependency {
                        tool: tool.spec.name.to_string(),
                        message: error.message().to_owned(),
                    }
                })?;
            }
        }
        Ok(self)
    }
}

/// Applies the invoker's settings and project directory to tools.
pub(super) fn configure_view(
    tools: View,
    context: &InvokerContext,
    settings: &Arc<ToolSettings>,
) -> View {
    let tools = tools.bind_session().tool_settings(settings);
    match context.project_dir() {
        Some(directory) => {
            tools.bind_unless_imported(PROJECT_DIR_PARAM, directory.to_string_lossy().into_owned())
        }
        None => tools,
    }
}
