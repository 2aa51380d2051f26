//! Clients: they send messages, decisions and stops to any process, withdraw messages, and record what was acknowledged.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::future::join_all;
use toolwright_chat::{
    ApprovalResponse, ApprovalVerdict, EntryBody, InboxBody, MessagePart, Turn, TurnLimits,
    TurnStatus,
};
use toolwright_core::{Content, Role};

use super::scheduler::pause;
use super::world::{CLIENTS, Sent, World};

/// The steps of messages, as the model reads them.
const STEPS: [&str; 10] = ["", "l", "w", "p", "s", "ll w", "lp", "wp", "wlw", "p w"];

/// Starts the clients; when they are done, nothing is disturbed any more, and paused turns are decided.
pub(crate) fn start(world: &Arc<World>) {
    let clients: Vec<Client> = (0..2 + world.scheduler.below(3))
        .map(|id| Client { world: Arc::clone(world), id, batch: 0 })
        .collect();
    let world = Arc::clone(world);
    world.clone().scheduler.spawn(CLIENTS, async move {
        join_all(clients.into_iter().map(Client::act)).await;
        world.calm_down();
        let mut client = Client { world: Arc::clone(&world), id: 100, batch: 0 };
        let mut rests = 0;
        // The second time after the last operation under way has come to its end.
        while rests < 2 {
            pause(20_000).await;
            rests += 1;
            for conversation in world.conversations.clone() {
                let stored = world.disk.lock().unwrap().conversation(&conversation);
                if !stored.inbox.is_empty() || stored.turn != TurnStatus::Over {
                    rests = 0;
                }
                if stored.turn == TurnStatus::Paused {
                    client.decide(&conversation, true).await;
                }
            }
        }
        world.is_done.store(true, Ordering::Relaxed);
    });
}

struct Client {
    world: Arc<World>,
    id: u64,
    batch: u64,
}

impl Client {
    async fn act(mut self) {
        let world = Arc::clone(&self.world);
        let scheduler = &world.scheduler;
        for _ in 0..1 + scheduler.below(4) {
            pause(scheduler.below(5_000)).await;
            let conversation = scheduler.pick(&world.conversations);
            match scheduler.below(10) {
                0..5 => self.send_messages(conversation).await,
                5..7 => self.decide(conversation, false).await,
                7..9 => self.send(conversation, vec![("s", InboxBody::Stop)], false).await,
                _ => self.withdraw().await,
            }
        }
    }

    async fn send_messages(&mut self, conversation: &str) {
        let count = 1 + self.world.scheduler.below(3);
        let messages = (0..count).map(|_| ("m", message()));
        self.send(conversation, messages.collect(), true).await;
    }

    /// Decides about the calls that wait, or about the first of them.
    async fn decide(&mut self, conversation: &str, all: bool) {
        let stored = self.world.disk.lock().unwrap().conversation(conversation);
        let mut turn = Turn::new(TurnLimits::default());
        stored.entries.iter().for_each(|entry| turn.apply(entry));
        let mut responses = Vec::new();
        for entry in &stored.entries {
            if let EntryBody::ApprovalRequested { call, token, .. } = &entry.body
                && turn.is_awaiting_approval(call)
            {
                let verdict = match self.world.scheduler.below(3) {
                    0 => ApprovalVerdict::Deny { reason: "no".to_owned() },
                    _ => ApprovalVerdict::Approve,
                };
                responses.push(ApprovalResponse::new(call.clone(), token.clone(), verdict));
            }
        }
        if !all {
            responses.truncate(1);
        }
        if !responses.is_empty() {
            self.send(conversation, vec![("d", InboxBody::Decisions { responses })], false).await;
        }
    }

    /// Sends items at the same time; a message is sent again if its fate is not known.
    async fn send(&mut self, conversation: &str, bodies: Vec<(&str, InboxBody)>, again: bool) {
        self.batch += 1;
        let (world, client, batch) = (&self.world, self.id, self.batch);
        let sent = bodies.into_iter().enumerate().map(|(index, (kind, mut body))| async move {
            let id = format!("{kind}{client}-{batch}-{index}");
            if let InboxBody::Message { parts, .. } = &mut body {
                let steps = world.scheduler.pick(&STEPS);
                let content = vec![Content::text(format!("{id} {steps}"))];
                parts.push(MessagePart { role: Role::User, content });
            }
            let attempts = if again { 3 } else { 1 };
            let mut sent = Sent {
                client,
                batch,
                conversation: conversation.to_owned(),
                id,
                attempts: 0,
                acknowledged: None,
            };
            while sent.attempts < attempts && sent.acknowledged.is_none() {
                pause(world.scheduler.below(500)).await;
                let running = world.running();
                if running.is_empty() {
                    continue;
                }
                sent.attempts += 1;
                let process = world.scheduler.pick(&running);
                let answer = process.accept(conversation, &sent.id, body.clone()).await;
                world.scheduler.trace(|| {
                    format!("{} to p{} in {conversation}: {answer:?}", sent.id, process.id)
                });
                match answer {
                    Ok(Ok(Some(position))) => sent.acknowledged = Some(position),
                    // The inbox is full.
                    Ok(Ok(None)) => break,
                    _ => {}
                }
            }
            world.history.lock().unwrap().sent.push(sent);
        });
        join_all(sent).await;
    }

    /// Withdraws the last message of this client.
    async fn withdraw(&mut self) {
        let found = {
            let history = self.world.history.lock().unwrap();
            let mut sent = history.sent.iter().rev();
            let sent = sent.find(|sent| sent.client == self.id && sent.id.starts_with('m'));
            sent.and_then(|sent| {
                Some((sent.conversation.clone(), sent.id.clone(), sent.acknowledged?))
            })
        };
        let running = self.world.running();
        let Some((conversation, id, position)) = found.filter(|_| !running.is_empty()) else {
            return;
        };
        let process = self.world.scheduler.pick(&running);
        let answer = process.withdraw(&conversation, position).await;
        self.world.scheduler.trace(|| format!("withdraw {id}: {answer:?}"));
        let mut history = self.world.history.lock().unwrap();
        match answer {
            Ok(Ok(true)) => _ = history.withdrawn.insert(id, true),
            Ok(Ok(false)) => {}
            _ => _ = history.withdrawn.entry(id).or_insert(false),
        }
    }
}

/// A message without parts.
fn message() -> InboxBody {
    InboxBody::Message { parts: Vec::new(), model: None, after: None, client_tools: Vec::new() }
}
