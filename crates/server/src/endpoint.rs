//! A path at which people talk: who answers there, with which tools, on which terms.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolwright_chat::{Model, TurnLimits, HistoryWindow};
use toolwright_core::{Bundle, Item};

use crate::guardrail::{Guardrail, InputGuard};
use crate::handler::{Erased, Handler, Signature, erase};
use crate::intercept::Interceptor;
use crate::server::BuildError;
use crate::template::Template;

mod live;

pub(crate) use live::{Live, Shared, random};

/// Where the console's own conversations are.
pub(crate) const ASSISTANT: &str = "/api/conversations";

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
    pub(crate) template: Result<Template, String>,
    path: String,
    system: Option<System>,
    named: Vec<String>,
    bundles: Vec<String>,
    excluded: Vec<String>,
    added: Vec<Item>,
    only: bool,
    model: Option<Arc<dyn Model>>,
    memory: bool,
    window: HistoryWindow,
    limits: Option<TurnLimits>,
    ask_each: bool,
    broadcast: bool,
    heartbeat: Option<Duration>,
    idle: Option<Duration>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    output: Vec<Arc<dyn Guardrail>>,
    on_ready: Option<Erased>,
    on_disconnect: Option<Erased>,
    on_prompt: Option<Erased>,
    signatures: Vec<Signature>,
}

enum System {
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
            template: Template::parse(&path),
            path,
            system: None,
            named: Vec::new(),
            bundles: Vec::new(),
            excluded: Vec::new(),
            added: Vec::new(),
            only: false,
            model: None,
            memory: false,
            window: HistoryWindow::default(),
            limits: None,
            ask_each: false,
            broadcast: false,
            heartbeat: None,
            idle: None,
            interceptors: Vec::new(),
            output: Vec::new(),
            on_ready: None,
            on_disconnect: None,
            on_prompt: None,
            signatures: Vec::new(),
        }
    }

    /// Starts the endpoint that the console and the plain routes under `/api` talk to: it remembers, and all who read a
    /// conversation hear all of it.
    pub fn assistant() -> Self {
        Self {
            template: Ok(Template::bare(ASSISTANT)),
            ..Self::new(ASSISTANT)
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
        self.system = Some(System::Text(text.into()));
        self
    }

    /// Reads what the model should keep to from a file, when the server is built.
    #[must_use]
    pub fn system_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.system = Some(System::File(file.into()));
        self
    }

    /// Leaves only the tools of these names, and of bundles that are named too; without either, all there are.
    #[must_use]
    pub fn named<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.named.extend(names.into_iter().map(Into::into));
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
        self.excluded.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds tools that only this endpoint has.
    #[must_use]
    pub fn tools(mut self, bundle: impl Bundle) -> Self {
        self.added.extend(bundle.into_items());
        self
    }

    /// Leaves only these tools.
    #[must_use]
    pub fn only_tools(mut self, bundle: impl Bundle) -> Self {
        self.only = true;
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
    pub fn timeout(mut self, most: Duration) -> Self {
        self.limits.get_or_insert_default().time = most;
        self
    }

    /// Has every call approved, whatever the tools say.
    #[must_use]
    pub fn ask_before_each_call(mut self) -> Self {
        self.ask_each = true;
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
    pub fn idle(mut self, most: Duration) -> Self {
        self.idle = Some(most);
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
        self.interceptor(InputGuard(guardrail))
    }

    /// Has every step of an answer checked before anybody reads it; it is shown when it is whole.
    #[must_use]
    pub fn guard_output(mut self, guardrail: impl Guardrail) -> Self {
        self.output.push(Arc::new(guardrail));
        self
    }

    /// Calls a function when somebody joins a conversation.
    #[must_use]
    pub fn on_ready<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures.push(Signature::of("on_ready", &handler));
        self.on_ready = Some(erase(handler));
        self
    }

    /// Calls a function when somebody leaves a conversation.
    #[must_use]
    pub fn on_disconnect<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures
            .push(Signature::of("on_disconnect", &handler));
        self.on_disconnect = Some(erase(handler));
        self
    }

    /// Calls a function with every prompt, in place of handing it to the model; the function may do so itself, with
    /// [`Session::stream`](crate::Session::stream).
    #[must_use]
    pub fn on_prompt<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures.push(Signature::of("on_prompt", &handler));
        self.on_prompt = Some(erase(handler));
        self
    }

    pub(crate) fn wrong(&self, reason: impl Into<String>) -> BuildError {
        BuildError::Endpoint {
            path: self.path.clone(),
            reason: reason.into(),
        }
    }
}
