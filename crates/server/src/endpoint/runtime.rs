//! An endpoint that serves: its chat, and the conversations that are under way.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolwright_chat::{
    Chat, Entry, EntryBody, HistoryWindow, Lease, MemoryStore, Model, Owner, PrincipalRecord,
    Store, StoreError,
};
use toolwright_core::{Invoker, ToolSpec};

use super::{Endpoint, SystemPrompt};
use crate::conversation::event::{PeerId, unix_millis_now};
use crate::conversation::room::Room;
use crate::endpoint::guardrail::{Guardrail, with_guardrails};
use crate::endpoint::handler::ErasedHandler;
use crate::endpoint::interceptor::Interceptor;
use crate::endpoint::path_template::{PathParams, PathTemplate};
use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;
use crate::server::ServerBuildError;

/// How long a conversation is held while something is done to it as a whole.
const LEASE_DURATION: Duration = Duration::from_secs(30);

/// An endpoint that serves.
pub(crate) struct EndpointRuntime {
    pub(crate) server: Arc<ServerState>,
    pub(crate) template: PathTemplate,
    pub(crate) chat: Chat,
    /// Who answers in it, with all that is checked before it is shown.
    pub(crate) model: Arc<dyn Model>,
    pub(crate) invoker: Invoker,
    pub(crate) store: Arc<dyn Store>,
    /// How much of what was said whoever answers is told again.
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

/// The conversations that are under way.
struct RoomMap {
    by_id: HashMap<String, Arc<Room>>,
    /// How many there may be before those that nobody would miss are dropped.
    sweep_threshold: usize,
}

/// How many conversations are kept at hand in any case.
const MIN_SWEEP_THRESHOLD: usize = 256;

impl RoomMap {
    /// Drops those that nobody would miss: now and then, and always when there may be no more.
    fn evict_idle(&mut self, max: usize) {
        if self.by_id.len() >= self.sweep_threshold.min(max) {
            // Only those that nobody is about to enter.
            self.by_id
                .retain(|_, room| Arc::strong_count(room) > 1 || !room.is_evictable());
            self.sweep_threshold = MIN_SWEEP_THRESHOLD.max(2 * self.by_id.len());
        }
    }
}

/// What endpoints have of the server unless they say otherwise.
pub(crate) struct EndpointDefaults {
    pub(crate) server: Arc<ServerState>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) configure_chat:
        Arc<dyn Fn(toolwright_chat::ChatBuilder) -> toolwright_chat::ChatBuilder + Send + Sync>,
}

impl Endpoint {
    /// Makes it serve.
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
        let model = self
            .model
            .clone()
            .unwrap_or_else(|| Arc::clone(&shared.model));
        let model = with_guardrails(model, &self.output_guardrails);
        let (store, window) = match self.memory {
            true => (Arc::clone(&shared.store), self.window),
            // Kept until the answer is there, so that it can be waited for and come back to.
            false => (
                Arc::new(MemoryStore::new()) as _,
                HistoryWindow::all().turns(0),
            ),
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
        let chat = chat
            .store(Arc::clone(&store))
            .node(&shared.server.node)
            .window(window);
        Ok(EndpointRuntime {
            template,
            chat: chat.build(),
            model,
            invoker,
            store,
            window,
            endpoint_tools: Arc::new(
                self.added_tools
                    .iter()
                    .map(|item| item.name().to_string())
                    .collect(),
            ),
            heartbeat: self
                .heartbeat
                .unwrap_or(shared.server.limits.heartbeat_interval),
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

    /// The tools of this endpoint, and no others.
    fn select_tools(&self, invoker: &Invoker) -> Result<Invoker, ServerBuildError> {
        let snapshot = invoker.snapshot();
        let snapshot = snapshot.map_err(|error| self.build_error(error.to_string()))?;
        let added = |name: &str| self.added_tools.iter().any(|item| item.name() == name);
        let known = |name: &&String| snapshot.get(name).is_some() || added(name);
        let mut names = self.only_tools_named.iter().chain(&self.excluded_tools);
        if let Some(unknown) = names.find(|name| !known(name)) {
            let near = snapshot.nearest(unknown, 1);
            let hint = near.first().map(|near| format!("; did you mean `{near}`?"));
            let hint = hint.unwrap_or_default();
            return Err(self.build_error(format!("there is no tool `{unknown}`{hint}")));
        }
        let bundles: HashSet<&str> = snapshot.iter().map(|it| &*it.spec().bundle).collect();
        let mut wanted = self.bundles.iter();
        if let Some(unknown) = wanted.find(|name| !bundles.contains(name.as_str())) {
            return Err(self.build_error(format!("there is no bundle `{unknown}`")));
        }
        let names: HashSet<String> = self.only_tools_named.iter().cloned().collect();
        let bundles: HashSet<String> = self.bundles.iter().cloned().collect();
        let only = self.only_added_tools;
        let keep = move |spec: &ToolSpec| {
            let all = !only && names.is_empty() && bundles.is_empty();
            all || names.contains(spec.name.as_str()) || bundles.contains(&*spec.bundle)
        };
        let narrowed = invoker.with_view(|view| {
            view.filter(keep)
                .with(self.added_tools.clone())
                .exclude(&self.excluded_tools)
        });
        narrowed.map_err(|error| self.build_error(error.to_string()))
    }
}

impl EndpointRuntime {
    /// The room of a conversation; made when it is first asked for.
    ///
    /// Without names in the endpoint's path, the conversation is one of `owner`, whatever others call theirs.
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
            return Err(ErrorResponse::too_many_requests(
                "too many conversations are under way",
            ));
        }
        let room = Room::new(Arc::clone(self), id.clone(), name, params);
        let room = Arc::new(room);
        rooms.by_id.insert(id, Arc::clone(&room));
        Ok(room)
    }

    /// The endpoint that a conversation belongs to, if that is another: only there it is treated as its author wants.
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

    /// How many conversations are under way.
    pub(crate) fn room_count(&self) -> usize {
        self.rooms().by_id.len()
    }

    /// Whether a turn of a conversation runs.
    pub(crate) fn is_turn_running(&self, id: &str) -> bool {
        let rooms = self.rooms();
        rooms
            .by_id
            .get(id)
            .is_some_and(|room| room.is_turn_running())
    }

    /// Who hears what is told to somebody who asked.
    pub(crate) fn event_recipient(&self, peer: Option<&PeerId>) -> Option<PeerId> {
        peer.filter(|_| !self.broadcast).cloned()
    }

    /// Whether conversations are kept when they are over.
    pub(crate) fn is_persistent(&self) -> bool {
        self.persistent
    }

    /// Whether people meet in its conversations.
    pub(crate) fn is_shared(&self) -> bool {
        self.template.collection_path().is_none()
    }

    /// Puts what is checked before it is shown around a model.
    pub(crate) fn with_guardrails(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        with_guardrails(model, &self.output_guardrails)
    }

    /// Returns an error if a new message could not be stored and answered, so that none is accepted.
    pub(crate) async fn check_admission(&self) -> Result<(), ErrorResponse> {
        self.server.check_turn_capacity()?;
        Ok(self.store.check_writable().await?)
    }

    /// Reads the last turn of a conversation, from its message on, if the turn is not over.
    pub(crate) async fn load_unfinished_turn(
        &self,
        id: &str,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let mut max = 1;
        loop {
            let entries = self.store.tail(id, None, max).await?;
            let last = entries.last().map(|entry| &entry.body);
            if matches!(last, None | Some(EntryBody::TurnEnded { .. })) {
                return Ok(None);
            }
            if entries.len() < max || entries.iter().any(Entry::is_message) {
                return Ok(Some(entries));
            }
            max *= 8;
        }
    }

    /// Tells the journal something that no chat of ours has told it, caused by a principal.
    pub(crate) async fn append_entries(
        &self,
        id: &str,
        principal: Option<PrincipalRecord>,
        bodies: Vec<EntryBody>,
    ) -> Result<(), StoreError> {
        let entries: Result<Vec<Entry>, StoreError> = bodies
            .into_iter()
            .map(|bodies| Ok(Entry::new(random_id()?, unix_millis_now(), bodies)))
            .map(|entry| {
                entry.map(|entry: Entry| match entry.is_message() {
                    true => entry.with_principal(principal.clone()),
                    false => entry,
                })
            })
            .collect();
        let entries = entries?;
        self.with_lease(id, async |lease| self.store.append(lease, &entries).await)
            .await
    }

    /// Forgets a conversation for good; tells whether there was one.
    pub(crate) async fn delete_conversation(&self, id: &str) -> Result<bool, StoreError> {
        let deleted = self.with_lease(id, async |lease| self.store.delete(lease).await);
        let deleted = deleted.await?;
        let room = self.rooms().by_id.get(id).cloned();
        if let Some(room) = room {
            room.reset().await;
        }
        Ok(deleted)
    }

    /// Forgets a turn that is over, where nothing is remembered.
    pub(crate) async fn delete_if_ephemeral(&self, id: &str) {
        if !self.persistent
            && let Err(error) = self
                .with_lease(id, async |lease| self.store.delete(lease).await)
                .await
        {
            tracing::warn!(conversation = id, "it could not be forgotten: {error}");
        }
    }

    /// Does something to a conversation while nobody else may.
    async fn with_lease<T>(
        &self,
        id: &str,
        work: impl AsyncFnOnce(&Lease) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lease = Lease::new(id, &self.server.node);
        if !self.store.acquire(&lease, LEASE_DURATION).await? {
            return Err(StoreError::leased_elsewhere(&lease));
        }
        let result = work(&lease).await;
        // It ends by itself, too.
        let _ = self.store.release(&lease).await;
        result
    }
}

/// A name that nothing else has.
pub(crate) fn random_id() -> Result<String, StoreError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| {
        StoreError::new(format!("the system has no random numbers to give: {error}"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
