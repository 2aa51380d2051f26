//! A path at which people talk: who answers there, with which tools, on which terms.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolwright_chat::{HistoryWindow, Model, TurnLimits};
use toolwright_core::{Bundle, BundleItem};

use crate::endpoint::guardrail::{Guardrail, InputGuardrail};
use crate::endpoint::handler::{ErasedHandler, Handler, HandlerSignature, erase_handler};
use crate::endpoint::interceptor::Interceptor;
use crate::endpoint::path_template::PathTemplate;
use crate::server::ServerBuildError;

pub(crate) mod client_tools;
pub(crate) mod guardrail;
pub(crate) mod handler;
pub(crate) mod interceptor;
pub(crate) mod metering;
mod path_params;
pub(crate) mod path_template;
mod runtime;
pub(crate) mod server_state;

pub(crate) use runtime::{EndpointDefaults, EndpointRuntime, random_id};

/// Where the console's own conversations are.
pub(crate) const ASSISTANT_PATH: &str = "/api/conversations";

/// An endpoint under construction; mistakes are told by [`Server::build`](crate::Server::build).
///
/// # Examples
///
/// ```
/// use toolwright_server::{Endpoint, Message, Path, Session};
///
/// let support = Endpoint::new("/support/{customer}")
///     .system("You help customers of a bicycle shop.")
///     .exclude(["issue_refund"])
///     .memory(true)
///     .on_prompt(|message: Message, session: Session, Path(customer): Path<String>| async move {
///         session.metadata("customer", customer);
///         session.stream(message).await
///     });
/// ```
pub struct Endpoint {
    pub(crate) template: Result<PathTemplate, String>,
    path: String,
    system: Option<SystemPrompt>,
    only_tools_named: Vec<String>,
    bundles: Vec<String>,
    excluded_tools: Vec<String>,
    added_tools: Vec<BundleItem>,
    only_added_tools: bool,
    model: Option<Arc<dyn Model>>,
    memory: bool,
    window: HistoryWindow,
    limits: Option<TurnLimits>,
    approve_every_call: bool,
    broadcast: bool,
    heartbeat: Option<Duration>,
    idle_timeout: Option<Duration>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    output_guardrails: Vec<Arc<dyn Guardrail>>,
    on_ready: Option<ErasedHandler>,
    on_disconnect: Option<ErasedHandler>,
    on_message: Option<ErasedHandler>,
    signatures: Vec<HandlerSignature>,
}

enum SystemPrompt {
    Text(String),
    File(PathBuf),
}

impl Endpoint {
    /// Starts an endpoint at a path; names in braces tell its conversations apart.
    ///
    /// A path without names serves conversations that clients name: at `/support`, the one at `/support/7` is the client's 7.
    pub fn new(path: impl Into<String>) -> Self {
        let path = path.into();
        Self {
            template: PathTemplate::parse(&path),
            path,
            system: None,
            only_tools_named: Vec::new(),
            bundles: Vec::new(),
            excluded_tools: Vec::new(),
            added_tools: Vec::new(),
            only_added_tools: false,
            model: None,
            memory: false,
            window: HistoryWindow::default(),
            limits: None,
            approve_every_call: false,
            broadcast: false,
            heartbeat: None,
            idle_timeout: None,
            interceptors: Vec::new(),
            output_guardrails: Vec::new(),
            on_ready: None,
            on_disconnect: None,
            on_message: None,
            signatures: Vec::new(),
        }
    }

    /// Starts the endpoint that the console and the plain routes under `/api` talk to: it remembers, and all who read a
    /// conversation hear all of it.
    pub fn assistant() -> Self {
        Self {
            template: Ok(PathTemplate::unprefixed(ASSISTANT_PATH)),
            ..Self::new(ASSISTANT_PATH)
        }
        .memory(true)
        .broadcast(true)
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Says what the model should keep to.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(SystemPrompt::Text(text.into()));
        self
    }

    /// Reads what the model should keep to from a file, when the server is built.
    #[must_use]
    pub fn system_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.system = Some(SystemPrompt::File(file.into()));
        self
    }

    /// Leaves only the tools of these names, and of bundles that are named too; without either, all there are.
    #[must_use]
    pub fn only_tools_named<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.only_tools_named
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// Leaves only the tools of these bundles, and those that are named too.
    #[must_use]
    pub fn bundles<N: Into<String>>(mut self, bundles: impl IntoIterator<Item = N>) -> Self {
        self.bundles.extend(bundles.into_iter().map(Into::into));
        self
    }

    /// Leaves these tools out, whatever else is said.
    #[must_use]
    pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.excluded_tools
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds tools that only this endpoint has.
    #[must_use]
    pub fn tools(mut self, bundle: impl Bundle) -> Self {
        self.added_tools.extend(bundle.into_items());
        self
    }

    /// Leaves only these tools.
    #[must_use]
    pub fn only_tools(mut self, bundle: impl Bundle) -> Self {
        self.only_added_tools = true;
        self.tools(bundle)
    }

    /// Says who answers, in place of the server's model.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Says whether conversations are remembered; off unless said so.
    #[must_use]
    pub fn memory(mut self, on: bool) -> Self {
        self.memory = on;
        self
    }

    /// Says how much of a conversation the model is told, where it is remembered; the default is 30 messages.
    #[must_use]
    pub fn window(mut self, window: HistoryWindow) -> Self {
        self.window = window;
        self
    }

    /// Says how far one turn may go.
    #[must_use]
    pub fn limits(mut self, limits: TurnLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Says how long one turn may take.
    #[must_use]
    pub fn timeout(mut self, max: Duration) -> Self {
        self.limits.get_or_insert_default().time = max;
        self
    }

    /// Has every call approved, whatever the tools say.
    #[must_use]
    pub fn ask_before_each_call(mut self) -> Self {
        self.approve_every_call = true;
        self
    }

    /// Says whether all who take part hear every answer, or only who asked; only who asked, unless said so.
    #[must_use]
    pub fn broadcast(mut self, on: bool) -> Self {
        self.broadcast = on;
        self
    }

    /// Sets how long a stream is silent before a sign of life is sent.
    #[must_use]
    pub fn heartbeat(mut self, every: Duration) -> Self {
        self.heartbeat = Some(every);
        self
    }

    /// Ends streams in which nothing happened for so long; who wants to go on comes back. Without, they stay.
    #[must_use]
    pub fn idle_timeout(mut self, max: Duration) -> Self {
        self.idle_timeout = Some(max);
        self
    }

    /// Adds somebody who looks at every turn.
    #[must_use]
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(Arc::new(interceptor));
        self
    }

    /// Has everything that is said checked before a model reads it.
    #[must_use]
    pub fn guard_input(self, guardrail: impl Guardrail) -> Self {
        self.interceptor(InputGuardrail(guardrail))
    }

    /// Has every step of an answer checked before anybody reads it; it is shown when it is whole.
    #[must_use]
    pub fn guard_output(mut self, guardrail: impl Guardrail) -> Self {
        self.output_guardrails.push(Arc::new(guardrail));
        self
    }

    /// Calls a function when somebody joins a conversation.
    #[must_use]
    pub fn on_ready<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures
            .push(HandlerSignature::of("on_ready", &handler));
        self.on_ready = Some(erase_handler(handler));
        self
    }

    /// Calls a function when somebody leaves a conversation.
    #[must_use]
    pub fn on_disconnect<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures
            .push(HandlerSignature::of("on_disconnect", &handler));
        self.on_disconnect = Some(erase_handler(handler));
        self
    }

    /// Calls a function with every prompt, in place of handing it to the model; the function may do so itself, with
    /// [`Session::stream`](crate::Session::stream).
    #[must_use]
    pub fn on_message<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures
            .push(HandlerSignature::of("on_prompt", &handler));
        self.on_message = Some(erase_handler(handler));
        self
    }

    pub(crate) fn build_error(&self, reason: impl Into<String>) -> ServerBuildError {
        ServerBuildError::Endpoint {
            path: self.path.clone(),
            reason: reason.into(),
        }
    }
}
