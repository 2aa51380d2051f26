//! A server process: accepts what clients send, attends to conversations, and numbers the events of their turns.

use std::collections::BTreeMap;
use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures_channel::oneshot;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolwright_chat::{
    Chat, ChatError, ChatEvent, HeldLease, InboxBody, InboxHandler, InboxItem, Store, StoreError,
    TurnRequest, TurnStatus, attend, load_turn_status,
};

use super::model::LetterModel;
use super::planted_bugs::PlantedBug;
use super::scheduler::pause;
use super::store::Connection;
use super::world::{Event, EventEntry, World};

const LEASE_DURATION: Duration = Duration::from_secs(6);

/// How many items an inbox may have before no more messages are accepted.
const INBOX_LIMIT: usize = 6;

pub(crate) struct Process {
    pub(crate) id: u64,
    world: Arc<World>,
    holder: String,
    store: Arc<dyn Store>,
    chat: Chat,
    rooms: Mutex<BTreeMap<String, Arc<Room>>>,
    /// Added to the simulated time, in milliseconds.
    clock: AtomicU64,
}

/// What a process knows about a conversation.
#[derive(Default)]
struct Room {
    state: Mutex<RoomState>,
    /// An item was added to the inbox here.
    news: Notify,
}

#[derive(Default)]
struct RoomState {
    is_attended: bool,
    has_news: bool,
    /// The term of the lease, and the number of events since it was acquired.
    numbers: (u64, u64),
}

impl Process {
    pub(crate) fn start(world: &Arc<World>, id: u64, holder: String) -> Arc<Self> {
        let store: Arc<dyn Store> = Arc::new(Connection::new(world, id));
        let chat = Chat::builder(&world.tools, LetterModel::new(world));
        let process = Arc::new(Self {
            id,
            world: Arc::clone(world),
            holder,
            chat: chat.store(Arc::clone(&store)).build(),
            store,
            rooms: Mutex::default(),
            clock: AtomicU64::new(world.scheduler.below(100_000)),
        });
        let sweeper = Arc::clone(&process);
        world.scheduler.spawn(id, async move {
            loop {
                pause(1_000 + sweeper.world.scheduler.below(3_000)).await;
                // After an error, the next sweep tries again.
                for conversation in sweeper.store.list_unattended(10).await.unwrap_or_default() {
                    sweeper.attend(&conversation);
                }
            }
        });
        process
    }

    /// Moves the wall clock of this process, forward or back.
    pub(crate) fn move_clock(&self) {
        self.clock.store(self.world.scheduler.below(100_000), Ordering::Relaxed);
    }

    fn wall_time(&self) -> u64 {
        self.world.scheduler.now() + self.clock.load(Ordering::Relaxed)
    }

    /// Answers a request of a client; the answer never comes if the process crashes.
    fn respond<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        self.world.scheduler.spawn(self.id, async move { _ = sender.send(work.await) });
        receiver
    }

    /// Accepts an item of a client: returns its position, or `None` if the inbox is full.
    pub(crate) fn accept(
        self: &Arc<Self>,
        conversation: &str,
        id: &str,
        body: InboxBody,
    ) -> oneshot::Receiver<Result<Option<u64>, StoreError>> {
        let (process, conversation) = (Arc::clone(self), conversation.to_owned());
        // Decisions and stops are accepted by a full inbox, too: a paused turn needs them before it takes a message.
        let limit = match &body {
            InboxBody::Message { .. } => INBOX_LIMIT,
            _ => usize::MAX,
        };
        let item = InboxItem::new(id, self.wall_time(), body);
        let accepted = async move {
            let position = process.store.push_inbox(&conversation, &item, limit).await;
            process.attend(&conversation);
            position
        };
        if self.world.bug == Some(PlantedBug::AcknowledgesBeforeCommit) {
            self.world.scheduler.spawn(self.id, async move { _ = accepted.await });
            return self.respond(async { Ok(Some(0)) });
        }
        self.respond(accepted)
    }

    /// Withdraws an item: returns false if it is not in the inbox any more.
    pub(crate) fn withdraw(
        &self,
        conversation: &str,
        position: u64,
    ) -> oneshot::Receiver<Result<bool, StoreError>> {
        let (store, conversation) = (Arc::clone(&self.store), conversation.to_owned());
        self.respond(async move { store.remove_inbox_item(&conversation, position).await })
    }

    /// Attends to a conversation, unless that is under way: then its inbox is read again.
    fn attend(self: &Arc<Self>, conversation: &str) {
        let room =
            Arc::clone(self.rooms.lock().unwrap().entry(conversation.to_owned()).or_default());
        room.news.notify_one();
        let is_attended = {
            let mut state = room.state.lock().unwrap();
            state.has_news = true;
            std::mem::replace(&mut state.is_attended, true)
        };
        if is_attended {
            return;
        }
        let (process, conversation) = (Arc::clone(self), conversation.to_owned());
        self.world.scheduler.spawn(self.id, async move {
            let is_finished = AtomicBool::new(false);
            let handler = Handler { process, conversation, room, is_finished };
            let Handler { process, conversation, .. } = &handler;
            let (store, holder) = (&process.store, &process.holder);
            let attended = attend(store, conversation, holder, LEASE_DURATION, &handler).await;
            let scheduler = &process.world.scheduler;
            scheduler.trace(|| format!("p{} attended {conversation}: {attended:?}", process.id));
            // After an error, the sweeper tries again.
            if !handler.is_finished.load(Ordering::Relaxed) {
                handler.room.state.lock().unwrap().is_attended = false;
            }
        });
    }
}

/// Runs the turns of a conversation.
struct Handler {
    process: Arc<Process>,
    conversation: String,
    room: Arc<Room>,
    /// True once another handler may attend to the conversation, while this one releases the lease.
    is_finished: AtomicBool,
}

impl InboxHandler for Handler {
    fn on_acquired(&self, lease: &Arc<HeldLease>) {
        self.room.state.lock().unwrap().numbers = (lease.lease().term, 0);
    }

    fn resume<'a>(&'a self, lease: &'a Arc<HeldLease>) -> BoxFuture<'a, Option<TurnStatus>> {
        let request = self.process.chat.resume(&*self.conversation);
        Box::pin(self.run_turn(request, lease, None))
    }

    fn handle<'a>(
        &'a self,
        item: InboxItem,
        lease: &'a Arc<HeldLease>,
    ) -> BoxFuture<'a, Option<TurnStatus>> {
        let chat = &self.process.chat;
        let request = match item.body.clone() {
            InboxBody::Message { parts, .. } => {
                let request = chat.message().conversation(&*self.conversation);
                parts
                    .into_iter()
                    .fold(request, |request, part| request.message_in_role(part.role, part.content))
            }
            InboxBody::Decisions { responses } => {
                chat.submit_approvals(&*self.conversation, responses)
            }
            InboxBody::Stop => return Box::pin(self.stop_turn(lease)),
        };
        Box::pin(self.run_turn(request.inbox_item(item.clone()), lease, Some(item.id)))
    }

    fn before_read(&self) {
        self.room.state.lock().unwrap().has_news = false;
    }

    fn may_finish(&self) -> bool {
        let mut state = self.room.state.lock().unwrap();
        if !state.has_news {
            state.is_attended = false;
            self.is_finished.store(true, Ordering::Relaxed);
        }
        !state.has_news
    }
}

impl Handler {
    async fn run_turn(
        &self,
        request: TurnRequest,
        lease: &Arc<HeldLease>,
        item: Option<String>,
    ) -> Option<TurnStatus> {
        self.run_turn_until(CancellationToken::new(), request, lease, item).await
    }

    async fn run_turn_until(
        &self,
        cancel: CancellationToken,
        request: TurnRequest,
        lease: &Arc<HeldLease>,
        item: Option<String>,
    ) -> Option<TurnStatus> {
        let request = request.held_lease(Arc::clone(lease)).cancel_on(cancel.clone());
        let mut stream = request.stream();
        let mut stops = pin!(self.cancel_when_stopped(&cancel));
        let error = loop {
            let event = tokio::select! {
                biased;
                event = stream.next() => event,
                () = &mut stops => None,
            };
            match event {
                Some(Ok(event)) => self.publish(&event),
                Some(Err(error)) => break Some(error),
                None => break None,
            }
        };
        match (error, stream.into_response()) {
            (None, Some(response)) => Some(match response.pending_approvals().is_empty() {
                true => TurnStatus::Over,
                false => TurnStatus::Paused,
            }),
            (Some(ChatError::Ended { .. } | ChatError::Model(_)), _) => Some(TurnStatus::Over),
            (Some(ChatError::Store(_)), _) => None,
            (Some(ChatError::Rejected { reason, .. }), _) => {
                let item = item.unwrap_or_default();
                self.process.world.scheduler.trace(|| format!("{item} is refused: {reason}"));
                self.process.world.history.lock().unwrap().refused.insert(item, reason);
                self.status().await
            }
            (error, _) => {
                self.process.world.fail(format!("a turn failed: {error:?}"));
                None
            }
        }
    }

    /// Ends the turn that runs or is paused, if there is one.
    async fn stop_turn(&self, lease: &Arc<HeldLease>) -> Option<TurnStatus> {
        if self.status().await? == TurnStatus::Over {
            return Some(TurnStatus::Over);
        }
        let cancel = CancellationToken::new();
        cancel.cancel();
        let request = self.process.chat.resume(&*self.conversation);
        self.run_turn_until(cancel, request, lease, None).await
    }

    /// Cancels the turn when a stop comes, through this process or another one.
    async fn cancel_when_stopped(&self, cancel: &CancellationToken) {
        loop {
            let poll = pause(1_000 + self.process.world.scheduler.below(1_000));
            tokio::select! {
                biased;
                () = self.room.news.notified() => {}
                () = poll => {}
            }
            let inbox = self.process.store.inbox(&self.conversation).await.unwrap_or_default();
            if inbox.iter().any(|item| matches!(item.body, InboxBody::Stop)) {
                cancel.cancel();
                pending::<()>().await;
            }
        }
    }

    async fn status(&self) -> Option<TurnStatus> {
        load_turn_status(&*self.process.store, &self.conversation).await.ok()
    }

    fn publish(&self, event: &ChatEvent) {
        let process = &self.process;
        let entry = match event {
            ChatEvent::ApprovalDecided { call, .. } => Some(EventEntry::Decided(call.to_string())),
            ChatEvent::Result { result, .. } => {
                Some(EventEntry::Finished(result.call_id.to_string()))
            }
            _ => None,
        };
        let (term, count) = {
            let mut state = self.room.state.lock().unwrap();
            state.numbers.1 += 1;
            state.numbers
        };
        let number = match process.world.bug {
            Some(PlantedBug::NumbersByWallClock) => process.wall_time() << 20 | count,
            _ => term << 20 | count,
        };
        let conversation = self.conversation.clone();
        process.world.publish(process.id, Event { conversation, term, number, entry });
    }
}
