//! What a program sets in code, and how its parts are built from that and the settings.

use std::sync::Arc;
use std::time::Duration;

use toolwright_auth::{ResourceServer, Scopes, SignIn};
use toolwright_bus::Bus;
use toolwright_chat::{
    Chat, ChatBuilder, HostedTool, Model, Prices, Store, StoreScope, ToolSearch, TurnLimits,
};
use toolwright_core::{
    Config, Invoker, InvokerBuilder, MemorySharedState, Origin, Registry, Secret, SharedState,
};
use toolwright_search::ToolEmbeddings;
use toolwright_server::{Branding, Endpoint, Mount, QuotaSettings, ServerBuilder};

use crate::app_info::AppInfo;
use crate::attach_options::{AttachOptions, PinLocation};
use crate::error::AppError;
use crate::open_state::StateSource;
use crate::project::assistant::{LEASE_DURATION, system_message};
use crate::project::cluster::{node_name, open_bus};
use crate::project::conversation_store::{ConversationStore, DefaultStore, cluster_store_url};
use crate::project::journal_keep::journal_keep;
use crate::project::model_selection::{self, SelectedModel};
use crate::project::{Project, ProjectSources, tool_embeddings};
use crate::remote_servers::RemoteServers;
use crate::running_app::RunningApp;

/// The least that the authenticator accepts.
const MIN_TOKEN_CHARS: usize = 16;

/// Everything that a program sets beside its tools.
#[derive(Default)]
pub(crate) struct AppSetup {
    /// Where settings come from.
    pub sources: ProjectSources,
    /// The parts of the server.
    pub mounts: Vec<Mount>,
    /// The endpoints of the server.
    pub endpoints: Vec<Endpoint>,
    pub(crate) states: Vec<StateSource>,
    pub(crate) configure_invoker: Vec<Box<dyn FnOnce(InvokerBuilder) -> InvokerBuilder + Send>>,
    pub(crate) configure_chat: Vec<Arc<dyn Fn(ChatBuilder) -> ChatBuilder + Send + Sync>>,
    pub(crate) configure_server: Vec<Box<dyn FnOnce(ServerBuilder) -> ServerBuilder + Send>>,
    pub(crate) branding: Branding,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) bus: Option<Arc<dyn Bus>>,
    /// Where the vectors of tools are stored, once the store is open.
    pub(crate) vectors: Option<Arc<dyn SharedState>>,
}

/// What an invoker does about state.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum StateMode {
    /// It is opened: tools can be called.
    Open,
    /// It is not opened: tools can only be listed and checked.
    Declare,
}

impl AppSetup {
    /// Selects the model: the one that the settings name, else that of the code, else by the keys that are set.
    pub(crate) async fn select_model(&self, config: &Config) -> Result<SelectedModel, AppError> {
        match (&self.model, config.origin("model")) {
            (Some(model), None) => {
                let reason = "chosen by the program; --model chooses another".to_owned();
                Ok(SelectedModel { model: Arc::clone(model), reason })
            }
            _ => model_selection::select_model(config).await,
        }
    }

    /// Opens the store: the one that the settings name, else that of the code, else the default.
    pub(crate) async fn open_store(
        &self,
        project: &Project,
        default_store: DefaultStore,
    ) -> Result<ConversationStore, AppError> {
        match (&self.store, project.config().origin("store")) {
            (Some(store), None) => Ok(ConversationStore::of_program(Arc::clone(store))),
            _ => ConversationStore::open(project, default_store).await,
        }
    }

    /// Returns where the pins of attached servers are: where all nodes read them if there may be several, else in a file.
    pub(crate) fn pin_location(&self, project: &Project) -> Result<PinLocation, AppError> {
        let config = project.config();
        let has_bus = self.bus.is_some() || config.origin("cluster.bus").is_some();
        let own = self.store.as_ref().filter(|_| config.origin("store").is_none());
        let own = own.filter(|store| has_bus || store.scope() == StoreScope::Cluster);
        Ok(match (cluster_store_url(project)?, own) {
            (Some(url), _) => PinLocation::Store(url),
            (None, Some(store)) => PinLocation::SharedState(store.shared_state()),
            (None, None) => PinLocation::File,
        })
    }

    /// Returns the shared state of the program's own store, if the settings name no other.
    pub(crate) fn own_shared_state(&self, project: &Project) -> Option<Arc<dyn SharedState>> {
        let own = self.store.as_ref().filter(|_| project.config().origin("store").is_none());
        own.map(|store| store.shared_state())
    }

    /// Returns the embeddings that the settings name, with their vectors in the store. A store that cannot be opened is a warning:
    /// the vectors are then made again by each process.
    pub(crate) async fn tool_embeddings(
        &self,
        project: &Project,
    ) -> Result<Option<ToolEmbeddings>, AppError> {
        let config = project.config();
        if !tool_embeddings::is_configured(config) {
            return Ok(None);
        }
        let vectors = match &self.vectors {
            Some(state) => Arc::clone(state),
            None => match self.open_store(project, DefaultStore::UserDataFile).await {
                Ok(store) => store.store().shared_state(),
                Err(error) => {
                    tracing::warn!(%error, "the vectors of tools are not stored");
                    Arc::new(MemorySharedState::default())
                }
            },
        };
        tool_embeddings::from_config(config, vectors)
    }

    /// Builds the invoker of the program's tools and those of the attached servers.
    pub(crate) async fn build_invoker(
        &mut self,
        project: &Project,
        servers: &RemoteServers,
        state: StateMode,
    ) -> Result<Invoker, AppError> {
        let mut changes = std::mem::take(&mut self.configure_invoker);
        for source in std::mem::take(&mut self.states) {
            changes.push(match state {
                StateMode::Open => source.open(project.config().clone()).await?,
                StateMode::Declare => Box::new(|invoker| source.declare(invoker)),
            });
        }
        if state == StateMode::Open
            && let Some(embeddings) = self.tool_embeddings(project).await?
        {
            changes.push(Box::new(|invoker| invoker.state(embeddings)));
        }
        servers.build_invoker(project, |invoker| {
            changes.into_iter().fold(invoker, |invoker, change| change(invoker))
        })
    }

    /// Adds a change of the invoker, after those of the program.
    pub(crate) fn configure_invoker(
        &mut self,
        change: impl FnOnce(InvokerBuilder) -> InvokerBuilder + Send + 'static,
    ) {
        self.configure_invoker.push(Box::new(change));
    }

    /// Adds a change of the server, after those of the program.
    pub(crate) fn configure_server(
        &mut self,
        change: impl FnOnce(ServerBuilder) -> ServerBuilder + Send + 'static,
    ) {
        self.configure_server.push(Box::new(change));
    }

    /// Requires approval of every call of every chat.
    pub(crate) fn ask_before_each_call(&mut self) {
        self.configure_chat.push(Arc::new(ChatBuilder::ask_before_each_call));
    }

    /// Applies the program's changes to a chat.
    pub(crate) fn configure_chat(&self, chat: ChatBuilder) -> ChatBuilder {
        self.configure_chat.iter().fold(chat, |chat, change| change(chat))
    }

    /// Attaches the servers of the settings, opens state and store, and builds server and chat.
    pub(crate) async fn start(
        mut self,
        info: AppInfo,
        registry: Registry,
        project: &Project,
        mut options: AttachOptions,
    ) -> Result<RunningApp, AppError> {
        let config = project.config();
        let selected = self.select_model(config).await?;
        let store = self.open_store(project, DefaultStore::UserDataFile).await?;
        let bus = open_bus(config, &store, self.bus.take()).await?;
        if store.is_of_cluster() || bus.is_some() {
            let state = store.store().shared_state();
            options.pins = PinLocation::SharedState(Arc::clone(&state));
            // First: the program may set another.
            self.configure_invoker.insert(0, Box::new(|invoker| invoker.shared_state(state)));
        }
        options.shared_state = Some(store.store().shared_state());
        self.vectors = Some(store.store().shared_state());
        options.serves_people = true;
        let servers = RemoteServers::new(&registry, project, options);
        servers.attach_configured(config, &*selected.model).await?;
        let invoker = self.build_invoker(project, &servers, StateMode::Open).await?;
        let mut hosted_tools = HostedTool::from_config(config)?;
        hosted_tools.retain(|tool| !servers.is_attached_locally(tool));
        let configure_chat = self.chat_setup(config, hosted_tools)?;
        let chat = configure_chat(Chat::builder(&invoker, Arc::clone(&selected.model)))
            .store(Arc::clone(store.store()))
            .node(node_name(config)?)
            .build();
        let mut builder = ServerBuilder::new(invoker.clone(), Arc::clone(&selected.model))
            .name(&*info.name, &*info.version)
            .description(&*info.description)
            .branding(self.branding.clone().with_config(config)?)
            .model_reason(&*selected.reason)
            .warnings(servers.warnings_fn())
            .store(Arc::clone(store.store()), store.location())
            .configure_chat(configure_chat);
        if let Some(connections) = servers.personal_connections() {
            builder = builder.personal_connections(connections);
        }
        if let Some(bus) = &bus {
            builder = builder.bus(Arc::clone(bus));
        }
        if store.is_of_cluster() {
            builder = builder.register_node();
        }
        let server = self.build_server(builder, config, &selected)?;
        let settings_of_tools = project.settings_of_tools.clone();
        Ok(RunningApp {
            info,
            registry,
            invoker,
            chat,
            server,
            servers,
            selected,
            bus,
            settings_of_tools,
        })
    }

    /// Returns what all chats share: limits, prices, leases, hosted tools, and the program's changes.
    fn chat_setup(
        &self,
        config: &Config,
        hosted_tools: Vec<HostedTool>,
    ) -> Result<impl Fn(ChatBuilder) -> ChatBuilder + Clone + Send + Sync + use<>, AppError> {
        let (prices, system) = (Prices::from_config(config)?, system_message(config)?);
        let (search, limits) = (ToolSearch::from_config(config)?, TurnLimits::from_config(config)?);
        let changes = self.configure_chat.clone();
        Ok(move |chat: ChatBuilder| {
            let chat = chat.system(&*system).prices(prices.clone()).lease_duration(LEASE_DURATION);
            let chat = chat.tool_search(search.clone()).limits(limits.clone());
            let chat = hosted_tools.iter().fold(chat, |chat, tool| chat.hosted_tool(tool.clone()));
            changes.iter().fold(chat, |chat, change| change(chat))
        })
    }

    fn build_server(
        self,
        mut builder: ServerBuilder,
        config: &Config,
        selected: &SelectedModel,
    ) -> Result<toolwright_server::Server, AppError> {
        let keep: Option<Duration> = journal_keep(config)?;
        let models = model_selection::selectable_models(config, selected);
        let names: Vec<String> = models.iter().map(|model| model.id().to_string()).collect();
        let resolve = move |name: &str| {
            let model = models.iter().find(|model| model.id().to_string() == name);
            model.cloned().ok_or_else(|| format!("there is no model `{name}`"))
        };
        builder = builder
            .models(names, resolve)
            .node_name(node_name(config)?)
            .quota(QuotaSettings::from_config(config)?)
            .mcp_tool_search(config.get_or("mcp.search", false)?)
            .limits(|limits| limits.max_conversation_age = keep);
        if let Some(token) = server_token(config)? {
            builder = builder.token(token);
        }
        let oauth = ResourceServer::from_config(config);
        if let Some(oauth) = oauth.map_err(|error| AppError::from_error(&error))? {
            builder = builder.configure_auth(|auth| auth.oauth(oauth));
        }
        builder = set_up_sign_in(builder, config)?;
        for mount in self.mounts {
            builder = builder.mount(mount);
        }
        for endpoint in self.endpoints {
            builder = builder.endpoint(endpoint);
        }
        for change in self.configure_server {
            builder = change(builder);
        }
        Ok(builder.build()?)
    }
}

/// Reads the token of clients, which must be hard to guess.
fn server_token(config: &Config) -> Result<Option<Secret>, AppError> {
    let token = config.secret("server.token")?;
    let length = token.as_ref().map(|token| token.expose().trim().chars().count());
    let Some(length) = length.filter(|length| *length < MIN_TOKEN_CHARS) else {
        return Ok(token);
    };
    let origin = config.origin("server.token").unwrap_or(&Origin::Default);
    let message = format!(
        "the token from {origin} has {length} letters: take one of at least {MIN_TOKEN_CHARS} that nobody can guess"
    );
    Err(match origin {
        Origin::Flag { .. } => AppError::usage(message),
        _ => AppError::new(message),
    })
}

/// Reads how people sign in, what scopes grant, the address of the server and the proxies in front of it.
fn set_up_sign_in(mut builder: ServerBuilder, config: &Config) -> Result<ServerBuilder, AppError> {
    let failed = |error: toolwright_auth::AuthBuildError| AppError::from_error(&error);
    if let Some(url) = config.get_optional::<String>("server.url")? {
        builder = builder.public_url(url);
    }
    if let Some(proxies) = config.get_optional::<Vec<String>>("server.trusted_proxies")? {
        builder = builder.configure_auth(|auth| auth.trusted_proxies(proxies));
    }
    if let Some(scopes) = Scopes::from_config(config).map_err(failed)? {
        builder = builder.configure_auth(|auth| auth.scopes(scopes));
    }
    if let Some(sign_in) = SignIn::from_config(config).map_err(failed)? {
        builder = builder.sign_in(sign_in);
    }
    Ok(builder)
}
