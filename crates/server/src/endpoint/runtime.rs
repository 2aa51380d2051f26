//! A built endpoint: its chat, its store, and its conversations in memory.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolwright_auth::Authenticator;
use toolwright_chat::{
    Chat, HistoryWindow, Lease, MemoryStore, Model, Owner, Store, StoreError, TurnRequest,
    random_hex,
};
use toolwright_conversation::{ConversationError, PeerId};
use toolwright_core::{Invoker, Snapshot, ToolSelection, ToolSpec};

use super::{Endpoint, SystemPrompt};
use crate::conversation::room::Room;
use crate::endpoint::guardrail::{Guardrail, with_guardrails};
use crate::endpoint::handler::ErasedHandler;
use crate::endpoint::interceptor::Interceptor;
use crate::endpoint::path_template::{PathParams, PathTemplate};
use crate::endpoint::room_access::RoomAccess;
use crate::endpoint::server_state::ServerState;
use crate::server::ServerBuildError;

/// A built endpoint.
pub(crate) struct EndpointRuntime {
    pub(crate) server: Arc<ServerState>,
    pub(crate) template: PathTemplate,
    pub(crate) room_access: RoomAccess,
    pub(crate) chat: Chat,
    /// The endpoint's model, with its output guardrails.
    pub(crate) model: Arc<dyn Model>,
    pub(crate) invoker: Invoker,
    /// Has the server's credentials; its principals call the tools of this endpoint.
    pub(crate) auth: Authenticator,
    pub(crate) store: Arc<dyn Store>,
    /// The window of history that is sent to the model.
    pub(crate) window: HistoryWindow,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) on_ready: Option<ErasedHandler>,
    pub(crate) on_disconnect: Option<ErasedHandler>,
    pub(crate) on_message: Option<ErasedHandler>,
    pub(crate) heartbeat: Duration,
    pub(crate) idle_timeout: Option<Duration>,
    /// The time limit of one turn.
    pub(crate) max_turn_time: Duration,
    /// The names of the tools that only this endpoint has.
    pub(crate) endpoint_tools: Arc<HashSet<String>>,
    /// The names of the tools that only a resolver may have.
    resolved_tools: Vec<String>,
    selection: ToolSelection,
    /// Further selections that a tool has to be kept by.
    bounds: Vec<ToolSelection>,
    output_guardrails: Vec<Arc<dyn Guardrail>>,
    persistent: bool,
    broadcast: bool,
    rooms: Mutex<RoomMap>,
}

/// The conversations in memory, by their name in the store.
struct RoomMap {
    by_id: HashMap<String, Arc<Room>>,
    /// The number of rooms at which evictable ones are dropped.
    sweep_threshold: usize,
}

/// The minimum of [`RoomMap::sweep_threshold`].
const MIN_SWEEP_THRESHOLD: usize = 256;

impl RoomMap {
    /// Drops evictable rooms when the sweep threshold or `max` is reached.
    fn evict_idle(&mut self, max: usize) {
        if self.by_id.len() >= self.sweep_threshold.min(max) {
            // A room with another reference is about to be used.
            self.by_id.retain(|_, room| Arc::strong_count(room) > 1 || !room.is_evictable());
            self.sweep_threshold = MIN_SWEEP_THRESHOLD.max(2 * self.by_id.len());
        }
    }
}

/// What an endpoint uses from the server where it has no setting of its own.
pub(crate) struct EndpointDefaults {
    pub(crate) server: Arc<ServerState>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) configure_chat:
        Arc<dyn Fn(toolwright_chat::ChatBuilder) -> toolwright_chat::ChatBuilder + Send + Sync>,
}

impl Endpoint {
    /// Builds the endpoint.
    pub(crate) fn into_runtime(
        self,
        shared: &EndpointDefaults,
    ) -> Result<EndpointRuntime, ServerBuildError> {
        let template = self.template.clone().map_err(|why| self.build_error(why))?;
        for signature in &self.signatures {
            let fits = signature.check(template.param_names());
            fits.map_err(|reason| self.build_error(reason))?;
        }
        let (has_subjects, rules) = (shared.server.auth.has_subjects(), self.room_rules.clone());
        let room_access = RoomAccess::new(rules, &template, &shared.server.invoker, has_subjects);
        let room_access = room_access.map_err(|reason| self.build_error(reason))?;
        let system = match &self.system {
            None => None,
            Some(SystemPrompt::Text(text)) => Some(text.clone()),
            Some(SystemPrompt::File(file)) => {
                let read = std::fs::read_to_string(file);
                Some(
                    read.map_err(|error| self.build_error(format!("{}: {error}", file.display())))?,
                )
            }
        };
        let invoker = select_tools(&shared.server.invoker, &self.selection, &self.bounds);
        let invoker = invoker.map_err(|reason| self.build_error(reason))?;
        let model = self.model.clone().unwrap_or_else(|| Arc::clone(&shared.model));
        let model = with_guardrails(model, &self.output_guardrails);
        // Without memory, a conversation is stored until its turn ends, so that a paused turn can resume and a client can
        // reconnect, to any node.
        let store = match self.memory || shared.server.bus.is_some() {
            true => Arc::clone(&shared.server.store),
            false => Arc::new(MemoryStore::new()) as _,
        };
        let window = match self.memory {
            true => self.window,
            false => HistoryWindow::all().turns(0),
        };
        let mut hosted_tools = HashSet::new();
        let chat = (shared.configure_chat)(Chat::builder(&invoker, Arc::clone(&model)));
        let chat = chat.retain_hosted_tools(|hosted| {
            hosted_tools.insert(hosted.name().to_owned());
            let mut selections = self.bounds.iter().chain([&self.selection]);
            selections.all(|selection| selection.keeps_hosted(hosted.name()))
        });
        let resolved_tools = self.check_names(&shared.server.invoker, &hosted_tools)?;
        let mut chat = chat.resolvers(self.resolvers.iter().cloned());
        if let Some(system) = system {
            chat = chat.system(system);
        }
        if let Some(search) = &self.tool_search {
            chat = chat.tool_search(search.clone());
        }
        if let Some(limits) = &self.limits {
            chat = chat.limits(limits.clone());
        }
        if let Some(max) = self.timeout {
            chat = chat.configure_limits(|limits| limits.time = max);
        }
        let mut max_turn_time = Duration::ZERO;
        let mut chat = chat.configure_limits(|limits| max_turn_time = limits.time);
        if self.approve_every_call {
            chat = chat.ask_before_each_call();
        }
        let chat = chat.store(Arc::clone(&store)).node(shared.server.handler_node()).window(window);
        Ok(EndpointRuntime {
            template,
            room_access,
            chat: chat.build(),
            model,
            auth: shared.server.auth.with_invoker(invoker.clone()),
            invoker,
            store,
            window,
            endpoint_tools: Arc::new(
                self.selection.added.iter().map(|item| item.name().to_string()).collect(),
            ),
            resolved_tools,
            selection: self.selection,
            bounds: self.bounds,
            heartbeat: self.heartbeat.unwrap_or(shared.server.limits.heartbeat_interval),
            idle_timeout: self.idle_timeout,
            max_turn_time,
            persistent: self.memory,
            broadcast: self.broadcast,
            interceptors: self.interceptors,
            output_guardrails: self.output_guardrails,
            on_ready: self.on_ready,
            on_disconnect: self.on_disconnect,
            on_message: self.on_message,
            rooms: Mutex::new(RoomMap {
                by_id: HashMap::new(),
                sweep_threshold: MIN_SWEEP_THRESHOLD,
            }),
            server: Arc::clone(&shared.server),
        })
    }

    /// Rejects the selection of unknown tools and bundles; returns the names of tools that only a resolver may have.
    fn check_names(
        &self,
        invoker: &Invoker,
        hosted_tools: &HashSet<String>,
    ) -> Result<Vec<String>, ServerBuildError> {
        let snapshot = invoker.snapshot();
        let snapshot = snapshot.map_err(|error| self.build_error(error.to_string()))?;
        let unknown = self.selection.unknown_names(&snapshot).into_iter();
        let unknown: Vec<&str> = unknown.filter(|name| !hosted_tools.contains(*name)).collect();
        let is_bundle = |name: &str| self.selection.bundles.iter().any(|bundle| bundle == name);
        let rejected = unknown.iter().find(|name| self.resolvers.is_empty() || is_bundle(name));
        if let Some(name) = rejected {
            return Err(self.build_error(describe_unknown_name(&self.selection, &snapshot, name)));
        }
        let is_excluded = |name: &str| self.selection.excluded.iter().any(|known| known == name);
        Ok(unknown.into_iter().filter(|name| !is_excluded(name)).map(str::to_owned).collect())
    }
}

/// The error for a selected tool or bundle that does not exist.
fn describe_unknown_name(selection: &ToolSelection, snapshot: &Snapshot, name: &str) -> String {
    if selection.bundles.contains(name) {
        return format!("there is no bundle `{name}`");
    }
    let near = snapshot.nearest(name, 1);
    let hint = near.first().map(|near| format!("; did you mean `{near}`?"));
    format!("there is no tool `{name}`{}", hint.unwrap_or_default())
}

/// Limits an invoker as [`select_tools`] does; the error names a tool or bundle that does not exist.
pub(crate) fn select_known_tools(
    invoker: &Invoker,
    selection: &ToolSelection,
    bounds: &[ToolSelection],
) -> Result<Invoker, String> {
    let snapshot = invoker.snapshot().map_err(|error| error.to_string())?;
    match selection.unknown_names(&snapshot).first() {
        Some(unknown) => Err(describe_unknown_name(selection, &snapshot, unknown)),
        None => select_tools(invoker, selection, bounds),
    }
}

/// Limits an invoker to the tools and prompts that all `bounds` keep and the selection selects, now and later.
fn select_tools(
    invoker: &Invoker,
    selection: &ToolSelection,
    bounds: &[ToolSelection],
) -> Result<Invoker, String> {
    let bounds: Vec<ToolSelection> = bounds.iter().filter(|it| !it.is_empty()).cloned().collect();
    if selection.is_empty() && bounds.is_empty() {
        return Ok(invoker.clone());
    }
    let narrowed = invoker.with_view(|view| {
        let kept = move |spec: &_| bounds.iter().all(|bound: &ToolSelection| bound.keeps(spec));
        selection.apply(view.filter(kept))
    });
    narrowed.map_err(|error| error.to_string())
}

impl EndpointRuntime {
    /// Returns true if the selections of this endpoint keep a tool that is not among those of the server.
    pub(crate) fn keeps_tool(&self, spec: &ToolSpec) -> bool {
        self.bounds.iter().chain([&self.selection]).all(|selection| selection.keeps(spec))
    }

    /// Returns the room of a conversation; creates it if it is not in memory.
    ///
    /// Unless the path has names, conversations are stored under `owner`, so that ids of different owners do not collide.
    pub(crate) fn open_room(
        self: &Arc<Self>,
        params: PathParams,
        owner: &Owner,
    ) -> Result<Arc<Room>, ConversationError> {
        let name = self.template.conversation_name(&params);
        let name = name.map_err(|message| ConversationError::Invalid { message })?;
        if let Some((endpoint, params)) = self.owning_endpoint(&name) {
            return endpoint.open_room(params, owner);
        }
        let id = match self.is_shared() {
            true => name.clone(),
            false if Owner::is_operator_id(&name) => owner.stored_name(&name),
            false => {
                let message = "the id of a conversation does not begin with `@`".to_owned();
                return Err(ConversationError::Invalid { message });
            }
        };
        let mut rooms = self.rooms();
        if let Some(room) = rooms.by_id.get(&id) {
            return Ok(Arc::clone(room));
        }
        rooms.evict_idle(self.server.limits.max_rooms);
        if rooms.by_id.len() >= self.server.limits.max_rooms {
            let message = "too many conversations are under way";
            return Err(ConversationError::Full { message });
        }
        let room = Room::new(Arc::clone(self), id.clone(), name, params);
        let room = Arc::new(room);
        rooms.by_id.insert(id, Arc::clone(&room));
        Ok(room)
    }

    /// The other endpoint whose path matches this id, if there is one: its conversations run with its settings only.
    fn owning_endpoint(&self, id: &str) -> Option<(Arc<Self>, PathParams)> {
        if self.is_shared() || !id.starts_with('/') {
            return None;
        }
        self.server.endpoints().find_map(|endpoint| {
            let params = endpoint.template.match_path(id)?;
            (endpoint.template != self.template).then_some((endpoint, params))
        })
    }

    fn rooms(&self) -> MutexGuard<'_, RoomMap> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of conversations in memory.
    pub(crate) fn room_count(&self) -> usize {
        self.rooms().by_id.len()
    }

    /// Returns true if a turn of this conversation runs in this process.
    pub(crate) fn is_turn_running(&self, id: &str) -> bool {
        let rooms = self.rooms();
        rooms.by_id.get(id).is_some_and(|room| room.is_turn_running())
    }

    /// The peer that receives the events of a message; `None` broadcasts to all.
    pub(crate) fn event_recipient(&self, peer: Option<&PeerId>) -> Option<PeerId> {
        peer.filter(|_| !self.broadcast).cloned()
    }

    /// Returns true if conversations are stored beyond their turn.
    pub(crate) fn is_persistent(&self) -> bool {
        self.persistent
    }

    /// Returns true if the path names the conversation, so that several principals share it.
    pub(crate) fn is_shared(&self) -> bool {
        self.template.collection_path().is_none()
    }

    /// Adds the tools that only a resolver has to a turn, unless the endpoint excludes them.
    pub(crate) fn add_resolved_tools(self: &Arc<Self>, request: TurnRequest) -> TurnRequest {
        if self.resolved_tools.is_empty() {
            return request;
        }
        let endpoint = Arc::clone(self);
        request.tools_named(&self.resolved_tools).allow(move |spec| {
            !endpoint.selection.excludes(spec) && endpoint.bounds.iter().all(|it| it.keeps(spec))
        })
    }

    /// Wraps a model with the endpoint's output guardrails.
    pub(crate) fn with_guardrails(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        with_guardrails(model, &self.output_guardrails)
    }

    /// Returns an error if a new message could not be stored where `is_stored`, so that none is accepted.
    pub(crate) async fn check_writable(&self, is_stored: bool) -> Result<(), ConversationError> {
        match is_stored {
            true => Ok(self.store.check_writable().await?),
            false => Ok(()),
        }
    }

    /// Deletes a conversation; returns false if it did not exist.
    pub(crate) async fn delete_conversation(&self, id: &str) -> Result<bool, StoreError> {
        let deleted = self.with_lease(id, async |lease| self.store.delete(lease).await);
        let deleted = deleted.await?;
        self.reset_room(id).await;
        self.server.on_deleted(id).await;
        Ok(deleted)
    }

    /// Discards what is in memory of a conversation that was deleted.
    pub(crate) async fn reset_room(&self, id: &str) {
        let room = self.rooms().by_id.get(id).cloned();
        if let Some(room) = room {
            room.reset();
        }
    }

    /// Runs an operation while this process holds the lease of the conversation.
    async fn with_lease<T>(
        &self,
        id: &str,
        work: impl AsyncFnOnce(&Lease) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let duration = self.server.limits.lease_duration;
        let lease = self.store.acquire(id, &self.server.handler_node(), duration).await?;
        let lease = lease.ok_or_else(|| StoreError::leased_elsewhere(id))?;
        let result = work(&lease).await;
        // The lease expires anyway.
        let _ = self.store.release(&lease).await;
        result
    }
}

/// A random id of 16 hex digits.
pub(crate) fn random_id() -> Result<String, StoreError> {
    random_hex(8)
}
