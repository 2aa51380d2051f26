//! An endpoint: a path, its model and tools, and what happens with messages that are sent there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolwright_chat::{HistoryWindow, Model, ToolResolver, ToolSearch, TurnLimits};
use toolwright_core::ToolSelection;

use crate::endpoint::guardrail::{Guardrail, InputGuardrail};
use crate::endpoint::handler::{ErasedHandler, Handler, HandlerSignature, erase_handler};
use crate::endpoint::interceptor::Interceptor;
use crate::endpoint::path_template::PathTemplate;
use crate::endpoint::room_access::{AccessCheck, RoomRule};
use crate::server::ServerBuildError;

pub(crate) mod client_tools;
pub(crate) mod guardrail;
pub(crate) mod handler;
pub(crate) mod interceptor;
pub(crate) mod metering;
mod path_params;
pub(crate) mod path_template;
pub(crate) mod room_access;
pub(crate) mod runtime;
pub(crate) mod server_state;

pub(crate) use runtime::{EndpointDefaults, EndpointRuntime, random_id, select_known_tools};

/// The path of the assistant endpoint, which the console uses.
pub(crate) const ASSISTANT_PATH: &str = "/api/conversations";

/// Builds an endpoint; mistakes are reported by [`ServerBuilder::build`](crate::ServerBuilder::build).
///
/// # Examples
///
/// ```
/// use toolwright::server::{Endpoint, IncomingMessage, Path, Session};
///
/// let support = Endpoint::new("/support/{customer}")
///     .for_subject("customer")
///     .system("You help customers of a bicycle shop.")
///     .exclude(["issue_refund"])
///     .memory(true)
///     .on_message(|message: IncomingMessage, session: Session, Path(customer): Path<String>| async move {
///         session.send_metadata("customer", customer);
///         session.answer_with_model(message).await
///     });
/// ```
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) template: Result<PathTemplate, String>,
    path: String,
    /// Who may enter the rooms of a path with names: whom all of these rules let in.
    room_rules: Vec<RoomRule>,
    system: Option<SystemPrompt>,
    pub(crate) selection: ToolSelection,
    /// Further selections that a tool has to be kept by: those of other endpoints.
    pub(crate) bounds: Vec<ToolSelection>,
    resolvers: Vec<Arc<dyn ToolResolver>>,
    model: Option<Arc<dyn Model>>,
    memory: bool,
    window: HistoryWindow,
    limits: Option<TurnLimits>,
    /// The time limit of one turn, in place of that of the limits.
    timeout: Option<Duration>,
    tool_search: Option<ToolSearch>,
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

toolwright_core::delegate_tool_selection!(Endpoint);

#[derive(Clone)]
enum SystemPrompt {
    Text(String),
    File(PathBuf),
}

impl Endpoint {
    /// Starts an endpoint at a path. Names in braces identify its conversations, which are rooms: all who may enter `/chat/lobby`
    /// share one.
    ///
    /// Where people can be told apart, by a login or by tokens of their own, an endpoint with names has to say who may enter:
    /// [`for_subject`](Self::for_subject), [`for_claim`](Self::for_claim), [`allow_if`](Self::allow_if) or
    /// [`open_to_all`](Self::open_to_all). With several of them, all have to allow it. Without credentials, or with one shared token,
    /// the only caller is the operator, who enters every room.
    ///
    /// A path without names has conversations that clients name: at `/support`, the path `/support/7` is the conversation
    /// `7` of the principal that sends the request.
    pub fn new(path: impl Into<String>) -> Self {
        let path = path.into();
        Self {
            template: PathTemplate::parse(&path),
            path,
            room_rules: Vec::new(),
            system: None,
            selection: ToolSelection::default(),
            resolvers: Vec::new(),
            bounds: Vec::new(),
            model: None,
            memory: false,
            window: HistoryWindow::default(),
            limits: None,
            timeout: None,
            tool_search: None,
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

    /// Starts the endpoint of the console and the plain routes under `/api`: with memory, and every subscriber of a
    /// conversation receives all its events.
    pub fn assistant() -> Self {
        Self { template: Ok(PathTemplate::unprefixed(ASSISTANT_PATH)), ..Self::new(ASSISTANT_PATH) }
            .memory(true)
            .broadcast(true)
    }

    /// The same endpoint at another path.
    pub(crate) fn at(self, path: &str) -> Self {
        Self { template: PathTemplate::parse(path), path: path.to_owned(), ..self }
    }

    pub(crate) fn is_assistant(&self) -> bool {
        self.path == ASSISTANT_PATH
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Lets in the person whose subject is the value of this parameter: at `/support/{customer}` with `customer`, nobody but `ada`
    /// enters `/support/ada`.
    #[must_use]
    pub fn for_subject(mut self, param: impl Into<String>) -> Self {
        self.room_rules.push(RoomRule::Subject { param: param.into() });
        self
    }

    /// Lets in people of whom a claim has the value of this parameter, or has it among others: a customer number, or the teams of a
    /// person. The claim is one of an [`Identity`](toolwright_auth::Identity), of a token, or of the provider that people sign in
    /// with; a path with dots finds a nested one.
    ///
    /// Choose a claim that people cannot change themselves.
    #[must_use]
    pub fn for_claim(mut self, param: impl Into<String>, claim: impl Into<String>) -> Self {
        self.room_rules.push(RoomRule::Claim { param: param.into(), claim: claim.into() });
        self
    }

    /// Lets in whom an async function allows, which returns a `bool` or a `Result` of one.
    ///
    /// Its arguments are taken from the request by their types: [`Principal`](toolwright_auth::Principal), which has the subject,
    /// roles, scopes and claims of the caller; [`Path`](crate::Path); and [`State`](toolwright_core::State), the state that tools
    /// receive. A path or a state that does not fit is an error when the server is built.
    ///
    /// It is called for every request to a room, every message over a WebSocket, at each [`heartbeat`](Self::heartbeat) of an open
    /// stream, and before a message that has waited or a turn that was interrupted runs. After an error, or 10 seconds, the
    /// response is a 503, and what was accepted waits. The operator and the program itself are let in without asking.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::State;
    /// use toolwright::auth::Principal;
    /// use toolwright::server::{Endpoint, Path};
    ///
    /// struct Teams;
    ///
    /// impl Teams {
    ///     async fn has_member(&self, team: &str, subject: Option<&str>) -> bool {
    ///         team == "garden" && subject == Some("ada")
    ///     }
    /// }
    ///
    /// let team = Endpoint::new("/team/{team}").memory(true).allow_if(
    ///     |caller: Principal, Path(team): Path<String>, teams: State<Teams>| async move {
    ///         caller.has_role("manager") || teams.has_member(&team, caller.subject()).await
    ///     },
    /// );
    /// ```
    #[must_use]
    pub fn allow_if<Args>(mut self, check: impl AccessCheck<Args>) -> Self {
        self.room_rules.push(RoomRule::check(check));
        self
    }

    /// Lets in everyone who may use the server: all people read and write all rooms of this path.
    #[must_use]
    pub fn open_to_all(mut self) -> Self {
        self.room_rules.push(RoomRule::Everyone);
        self
    }

    /// The claims that its rooms are entered by.
    pub(crate) fn room_claims(&self) -> impl Iterator<Item = &str> {
        self.room_rules.iter().filter_map(RoomRule::claim)
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(SystemPrompt::Text(text.into()));
        self
    }

    /// Sets the file of the system prompt, read when the server is built.
    #[must_use]
    pub fn system_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.system = Some(SystemPrompt::File(file.into()));
        self
    }

    /// Adds a resolver of tools that the registry does not have: asked at the start of every turn for the names of
    /// [`only_tools_named`](Self::only_tools_named) that are not registered when the server is built.
    #[must_use]
    pub fn resolver(mut self, resolver: impl ToolResolver) -> Self {
        self.resolvers.push(Arc::new(resolver));
        self
    }

    /// Sets the model; default: the server's.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Sets whether conversations are stored; default: false, so every message is answered without history.
    #[must_use]
    pub fn memory(mut self, on: bool) -> Self {
        self.memory = on;
        self
    }

    /// Sets the window of history that is sent to the model, where conversations are stored; default: 30 messages.
    #[must_use]
    pub fn window(mut self, window: HistoryWindow) -> Self {
        self.window = window;
        self
    }

    /// Sets when the model searches for tools, instead of getting the definitions of all; the default is the server's.
    #[must_use]
    pub fn tool_search(mut self, search: impl Into<ToolSearch>) -> Self {
        self.tool_search = Some(search.into());
        self
    }

    /// Sets the limits of one turn; the default is those of the server.
    #[must_use]
    pub fn limits(mut self, limits: TurnLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets the time limit of one turn, and keeps its other limits.
    #[must_use]
    pub fn timeout(mut self, max: Duration) -> Self {
        self.timeout = Some(max);
        self
    }

    /// Requires approval of every call, whatever the tools' policies are.
    #[must_use]
    pub fn ask_before_each_call(mut self) -> Self {
        self.approve_every_call = true;
        self
    }

    /// Sets whether every subscriber receives the answers, or only the peer that sent the message; default: false, only that
    /// peer.
    #[must_use]
    pub fn broadcast(mut self, on: bool) -> Self {
        self.broadcast = on;
        self
    }

    /// Sets the interval of keep-alive messages on an idle stream; default:
    /// [`ServerLimits::heartbeat_interval`](crate::ServerLimits::heartbeat_interval).
    #[must_use]
    pub fn heartbeat(mut self, every: Duration) -> Self {
        self.heartbeat = Some(every);
        self
    }

    /// Closes streams without an event for this long; clients can reconnect. Default: never.
    #[must_use]
    pub fn idle_timeout(mut self, max: Duration) -> Self {
        self.idle_timeout = Some(max);
        self
    }

    /// Adds an interceptor, called before and after every turn.
    #[must_use]
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(Arc::new(interceptor));
        self
    }

    /// Adds a guardrail that checks messages before a model reads them.
    #[must_use]
    pub fn guard_input(self, guardrail: impl Guardrail) -> Self {
        self.interceptor(InputGuardrail(guardrail))
    }

    /// Adds a guardrail that checks every step of an answer; a step is then sent whole instead of streamed.
    #[must_use]
    pub fn guard_output(mut self, guardrail: impl Guardrail) -> Self {
        self.output_guardrails.push(Arc::new(guardrail));
        self
    }

    /// Sets the function that is called when a client connects to a conversation.
    #[must_use]
    pub fn on_ready<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures.push(HandlerSignature::of("on_ready", &handler));
        self.on_ready = Some(erase_handler(handler));
        self
    }

    /// Sets the function that is called when a client disconnects from a conversation.
    #[must_use]
    pub fn on_disconnect<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures.push(HandlerSignature::of("on_disconnect", &handler));
        self.on_disconnect = Some(erase_handler(handler));
        self
    }

    /// Sets the function that answers messages instead of the model; it may call the model itself with
    /// [`Session::answer_with_model`](crate::Session::answer_with_model).
    #[must_use]
    pub fn on_message<Args>(mut self, handler: impl Handler<Args>) -> Self {
        self.signatures.push(HandlerSignature::of("on_message", &handler));
        self.on_message = Some(erase_handler(handler));
        self
    }

    pub(crate) fn build_error(&self, reason: impl Into<String>) -> ServerBuildError {
        ServerBuildError::Endpoint { path: self.path.clone(), reason: reason.into() }
    }
}
