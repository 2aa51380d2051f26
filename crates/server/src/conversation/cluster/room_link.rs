//! The link of a room to the same conversation at other nodes: what they send each other beyond events.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::{MissedTickBehavior, interval};
use toolwright_bus::{Delivery, Subscription};
use toolwright_chat::StoreError;
use toolwright_conversation::ConversationError;
use toolwright_conversation::follower::{Follower, FollowingNode};
use toolwright_conversation::node_message::NodeMessage;
use toolwright_conversation::shared_log::NodeChannel;

use crate::conversation::room::Room;
use crate::endpoint::server_state::ServerState;

/// How often a node announces its clients, and looks for missed events.
const TICK_INTERVAL: Duration = Duration::from_secs(5);

/// The link of a room to the other nodes.
pub(crate) struct RoomLink {
    pub(super) follower: Follower,
    /// Set once this node receives the messages of the others.
    subscribed: OnceCell<()>,
}

impl RoomLink {
    pub(crate) fn new(follower: Follower) -> Self {
        Self { follower, subscribed: OnceCell::new() }
    }
}

impl ServerState {
    /// Ends the shares of a conversation that was deleted, and has other nodes discard what they have in memory of it.
    pub(crate) async fn on_deleted(&self, conversation: &str) {
        if let Err(error) = self.shares.revoke_all(conversation).await {
            // They grant nothing: a conversation that begins under the same name is another one.
            tracing::warn!(conversation, %error, "the links of a deleted conversation are still listed");
        }
        if let Some(bus) = self.bus.clone() {
            NodeChannel::new(bus, conversation).send(&NodeMessage::Deleted);
        }
    }
}

impl FollowingNode for ServerState {
    fn is_own_lease(&self, holder: &str) -> bool {
        Self::is_own_lease(self, holder)
    }

    fn on_remote_event(&self, at: u64) {
        self.metrics.record_remote_event(at);
    }

    fn on_gap(&self) {
        self.metrics.event_gaps.inc();
    }
}

impl Room {
    /// Receives the messages of other nodes from now on.
    pub(crate) async fn connect_to_nodes(self: &Arc<Self>) {
        let (Some(link), Some(nodes)) = (&self.link, self.log.nodes()) else { return };
        let connect = async || {
            let subscription = nodes.subscribe().await.inspect_err(|error| {
                tracing::warn!(conversation = self.id, %error, "other nodes cannot be followed");
            });
            tokio::spawn(follow_nodes(Arc::downgrade(self), subscription.map_err(drop)?));
            nodes.send(&NodeMessage::PeersRequest);
            Ok::<(), ()>(())
        };
        // A failure is retried with the next request.
        let _ = link.subscribed.get_or_try_init(connect).await;
    }

    /// As [`Follower::sync`]; `None` if there are no other nodes.
    pub(crate) async fn sync_with_holder(&self) -> Result<Option<u64>, StoreError> {
        match &self.link {
            Some(link) => link.follower.sync().await.map(Some),
            None => Ok(None),
        }
    }

    fn on_node_message(self: &Arc<Self>, link: &RoomLink, message: NodeMessage) {
        let Some(message) = link.follower.on_message(message) else { return };
        match message {
            NodeMessage::TermBegan { term, before } => {
                self.log.update(|log| log.on_remote_term(term, before));
                // The sum in memory lacks the turns of the other node.
                self.usage.invalidate();
            }
            NodeMessage::TermEnded { term, newest_seq, is_interrupted } => {
                let last = Some(newest_seq).filter(|_| !is_interrupted);
                self.log.update(|log| log.on_remote_term_end(term, last));
                if self.has_waiting_commands() {
                    self.wake_holder();
                }
            }
            NodeMessage::Started { item, seq } => self.report_started(&item, Ok(seq)),
            NodeMessage::Rejected { item, error, message } => {
                let error = ConversationError::OtherNode { kind: error, message };
                self.report_started(&item, Err(error));
            }
            NodeMessage::InboxChanged => self.on_inbox_changed(),
            NodeMessage::Peers { node, count, participants } => {
                self.peers.on_announced(node, count, participants);
            }
            NodeMessage::PeersRequest => self.peers.announce(),
            NodeMessage::AccessChanged => self.on_access_changed(),
            NodeMessage::Deleted => self.reset(),
            NodeMessage::Event(_)
            | NodeMessage::TurnBegan { .. }
            | NodeMessage::StateRequest { .. }
            | NodeMessage::State { .. } => {}
        }
    }
}

/// Follows the messages of other nodes until the room is dropped.
async fn follow_nodes(room: Weak<Room>, mut subscription: Subscription) {
    let mut tick = interval(TICK_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let delivery = tokio::select! {
            biased;
            delivery = subscription.next() => Some(delivery),
            _ = tick.tick() => None,
        };
        let Some(room) = room.upgrade() else { return };
        let Some(link) = &room.link else { return };
        match delivery {
            Some(Some(Delivery::Message(text))) => {
                if let Some(message) = NodeMessage::from_json(&text) {
                    room.on_node_message(link, message);
                }
            }
            Some(Some(Delivery::Gap)) => {
                link.follower.on_missed_messages();
                room.log.send_to_nodes(&NodeMessage::PeersRequest);
            }
            // The bus has ended.
            Some(None) => return,
            None => {
                room.peers.on_tick();
                if let Err(error) = link.follower.on_tick().await {
                    tracing::warn!(conversation = room.id, %error, "the journal cannot be read now");
                }
            }
        }
    }
}
