//! A built endpoint: its chat, its store, and its conversations in memory.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolwright_chat::{
    Chat, HistoryWindow, Lease, MemoryStore, Model, Owner, Store, StoreError, random_hex,
};
use toolwright_core::Invoker;

use super::{Endpoint, SystemPrompt};
use crate::conversation::event::PeerId;
use crate::conversation::room::Room;
use crate::endpoint::guardrail::{Guardrail, with_guardrails};
use crate::endpoint::handler::ErasedHandler;
use crate::endpoint::interceptor::Interceptor;
use crate::endpoint::path_template::{PathParams, PathTemplate};
use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;
use crate::server::ServerBuildError;

/// The duration of a lease that is not renewed.
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(30);

/// A built endpoint.
pub(crate) struct EndpointRuntime {
    pub(crate) server: Arc<ServerState>,
    pub(crate) template: PathTemplate,
    pub(crate) chat: Chat,
    /// The endpoint's model, with its output guardrails.
    pub(crate) model: Arc<dyn Model>,
    pub(crate) invoker: Invoker,
    pub(crate) store: Arc<dyn Store>,
    /// The window of history that is sent to the model.
    pub(crate) window: HistoryWindow,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) on_ready: Option<ErasedHandler>,
    pub(crate) on_disconnect: Option<ErasedHandler>,
    pub(crate) on_message: Option<ErasedHandler>,
    pub(crate) heartbeat: Duration,
    pub(crate) idle_timeout: Option<Duration>,
    /// The names of the tools that only this endpoint has.
    pub(crate) endpoint_tools: Arc<HashSet<String>>,
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
    pub(crate) store: Arc<dyn Store>,
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
        let invoker = self.select_tools(&shared.server.invoker)?;
        let model = self.model.clone().unwrap_or_else(|| Arc::clone(&shared.model));
        let model = with_guardrails(model, &self.output_guardrails);
        let (store, window) = match self.memory {
            true => (Arc::clone(&shared.store), self.window),
            // Stored until the turn ends, so that a paused turn can resume and a client can reconnect.
            false => (Arc::new(MemoryStore::new()) as _, HistoryWindow::all().turns(0)),
        };
        let mut chat = (shared.configure_chat)(Chat::builder(Arc::clone(&model), &invoker));
        if let Some(system) = system {
            chat = chat.system(system);
        }
        if let Some(limits) = &self.limits {
            chat = chat.limits(limits.clone());
        }
        if self.approve_every_call {
            chat = chat.ask_before_each_call();
        }
        let chat = chat.store(Arc::clone(&store)).node(shared.server.handler_node()).window(window);
        Ok(EndpointRuntime {
            template,
            chat: chat.build(),
            model,
            invoker,
            store,
            window,
            endpoint_tools: Arc::new(
                self.selection.added.iter().map(|item| item.name().to_string()).collect(),
            ),
            heartbeat: self.heartbeat.unwrap_or(shared.server.limits.heartbeat_interval),
            idle_timeout: self.idle_timeout,
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

    /// The invoker limited to the tools of this endpoint.
    fn select_tools(&self, invoker: &Invoker) -> Result<Invoker, ServerBuildError> {
        let snapshot = invoker.snapshot();
        let snapshot = snapshot.map_err(|error| self.build_error(error.to_string()))?;
        if let Some(unknown) = self.selection.unknown_names(&snapshot).first() {
            if self.selection.bundles.iter().any(|bundle| bundle == unknown) {
                return Err(self.build_error(format!("there is no bundle `{unknown}`")));
            }
            let near = snapshot.nearest(unknown, 1);
            let hint = near.first().map(|near| format!("; did you mean `{near}`?"));
            let hint = hint.unwrap_or_default();
            return Err(self.build_error(format!("there is no tool `{unknown}`{hint}")));
        }
        let narrowed = invoker.with_view(|view| self.selection.apply(view));
        narrowed.map_err(|error| self.build_error(error.to_string()))
    }
}

impl EndpointRuntime {
    /// Returns the room of a conversation; creates it if it is not in memory.
    ///
    /// Unless the path has names, conversations are stored under `owner`, so that ids of different owners do not collide.
    pub(crate) fn open_room(
        self: &Arc<Self>,
        params: PathParams,
        owner: &Owner,
    ) -> Result<Arc<Room>, ErrorResponse> {
        let name = self.template.conversation_name(&params);
        let name = name.map_err(ErrorResponse::bad_request)?;
        if let Some((endpoint, params)) = self.owning_endpoint(&name) {
            return endpoint.open_room(params, owner);
        }
        let id = match self.is_shared() {
            true => name.clone(),
            false if Owner::is_operator_id(&name) => owner.stored_name(&name),
            false => {
                let message = "the id of a conversation does not begin with `@`";
                return Err(ErrorResponse::bad_request(message));
            }
        };
        let mut rooms = self.rooms();
        if let Some(room) = rooms.by_id.get(&id) {
            return Ok(Arc::clone(room));
        }
        rooms.evict_idle(self.server.limits.max_rooms);
        if rooms.by_id.len() >= self.server.limits.max_rooms {
            return Err(ErrorResponse::too_many_requests("too many conversations are under way"));
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
        let endpoints = self.server.endpoints.get()?;
        let mut endpoints = endpoints.iter().filter_map(std::sync::Weak::upgrade);
        endpoints.find_map(|endpoint| {
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

    /// Wraps a model with the endpoint's output guardrails.
    pub(crate) fn with_guardrails(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        with_guardrails(model, &self.output_guardrails)
    }

    /// Returns an error if a new message could not be answered, or not stored where `is_stored`, so that none is accepted.
    pub(crate) async fn check_admission(&self, is_stored: bool) -> Result<(), ErrorResponse> {
        if self.server.running_turns.len() >= self.server.limits.max_turns {
            let message = "the server runs as many turns as it can: try again when some are over";
            return Err(ErrorResponse::overloaded(message, Duration::from_secs(1)));
        }
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
        Ok(deleted)
    }

    /// Discards what is in memory of a conversation that was deleted.
    pub(crate) async fn reset_room(&self, id: &str) {
        let room = self.rooms().by_id.get(id).cloned();
        if let Some(room) = room {
            room.reset().await;
        }
    }

    /// Runs an operation while this process holds the lease of the conversation.
    async fn with_lease<T>(
        &self,
        id: &str,
        work: impl AsyncFnOnce(&Lease) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lease = self.store.acquire(id, &self.server.handler_node(), LEASE_DURATION).await?;
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
