//! Hands conversations over to other nodes when this one shuts down.

use serde::{Deserialize, Serialize};
use toolwright_bus::{Delivery, Subscription};

use crate::endpoint::server_state::ServerState;
use crate::server::Server;

/// The channel to which every node is subscribed.
const CHANNEL: &str = "nodes";

/// A message to all nodes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ClusterMessage {
    /// This node has released a conversation whose turn is not over.
    Unattended { conversation: String },
}

impl ServerState {
    /// Has another node attend to a conversation now, instead of with its next sweep.
    pub(crate) fn hand_over(&self, conversation: &str) {
        let Some(bus) = &self.bus else { return };
        let message = ClusterMessage::Unattended { conversation: conversation.to_owned() };
        if let Ok(text) = serde_json::to_string(&message) {
            bus.publish(CHANNEL, text);
        }
    }
}

impl Server {
    /// Attends to the conversations that other nodes hand over; ends if there is no bus.
    pub(in crate::conversation) async fn accept_handovers(&self) {
        let Some(bus) = &self.state.bus else { return };
        match bus.subscribe(CHANNEL).await {
            Ok(subscription) => self.follow_handovers(subscription).await,
            Err(error) => tracing::warn!(%error, "conversations of other nodes are found later"),
        }
    }

    async fn follow_handovers(&self, mut subscription: Subscription) {
        while let Some(delivery) = subscription.next().await {
            // What is missed in a gap is found by the next sweep.
            let Delivery::Message(text) = delivery else { continue };
            if let Ok(ClusterMessage::Unattended { conversation }) = serde_json::from_str(&text) {
                self.attend_to(&conversation);
            }
        }
    }
}
