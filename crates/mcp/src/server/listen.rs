//! Who wants to hear of changes, in; the changes as they happen, out.

use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::McpServer;
use super::error::RpcError;
use super::exchange::Exchange;
use super::lists::What;
use super::message::Message;
use super::reply::{Reply, notification, set, write_json};

/// The key under which every notification names its subscription.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What somebody wants to hear of.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Listen {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

impl Listen {
    /// Reads the filter of `subscriptions/listen`.
    pub(crate) fn read(message: &Message<'_>) -> Result<Self, RpcError> {
        let filter = message.params.notifications.map_or("{}", |raw| raw.get());
        serde_json::from_str(filter)
            .map_err(|why| RpcError::invalid_params(format!("`notifications`: {why}")))
    }

    /// Wants all that a session is told without asking.
    pub(crate) fn all() -> Self {
        Self {
            tools_list_changed: true,
            prompts_list_changed: true,
            resource_subscriptions: Vec::new(),
        }
    }

    /// Begins to listen: what changes from now on is heard, however late it is told.
    pub(crate) fn open(self, server: &McpServer, exchange: &Exchange) -> Listening {
        Listening {
            changes: server.0.whole.invoker.changes().boxed(),
            updates: server.0.updates.subscribe(),
            known: digests(server, exchange),
            filter: self,
        }
    }

    fn watches(&self, uri: &str, exchange: &Exchange) -> bool {
        let here = self.resource_subscriptions.iter().any(|known| known == uri);
        here || exchange
            .session
            .as_ref()
            .is_some_and(|session| session.watches(uri))
    }

    fn granted(&self, server: &McpServer) -> Value {
        let mut granted = json!({});
        if self.tools_list_changed {
            set(&mut granted, "toolsListChanged", true);
        }
        if self.prompts_list_changed {
            set(&mut granted, "promptsListChanged", true);
        }
        if !self.resource_subscriptions.is_empty() && !server.0.resources.is_empty() {
            set(
                &mut granted,
                "resourceSubscriptions",
                self.resource_subscriptions.clone(),
            );
        }
        granted
    }
}

/// Somebody who listens.
pub(crate) struct Listening {
    filter: Listen,
    changes: BoxStream<'static, u64>,
    updates: Receiver<Arc<str>>,
    /// What the tools and the prompts were when the listener last heard of them.
    known: (Digest, Digest),
}

impl Listening {
    /// Sends changes until the server ends; whoever does not want them any more drops this.
    pub(crate) async fn run(self, id: &str, server: &McpServer, exchange: &Arc<Exchange>) -> Reply {
        let Self {
            filter,
            mut changes,
            mut updates,
            mut known,
        } = self;
        let tag: Value = match exchange.session {
            Some(_) => Value::Null,
            None => serde_json::from_str(id).unwrap_or_default(),
        };
        let send = |method: &str, mut params: Value| {
            if !tag.is_null() {
                set(&mut params, "_meta", json!({ SUBSCRIPTION: tag }));
            }
            exchange.send(notification(method, &params));
        };
        if exchange.session.is_none() {
            send(
                "notifications/subscriptions/acknowledged",
                json!({ "notifications": filter.granted(server) }),
            );
        }
        // Once nobody can change the registry any more, resources may still be updated.
        let mut settled = false;
        loop {
            tokio::select! {
                change = changes.next(), if !settled => {
                    settled = change.is_none();
                    let now = digests(server, exchange);
                    if filter.tools_list_changed && known.0 != now.0 {
                        send("notifications/tools/list_changed", json!({}));
                    }
                    if filter.prompts_list_changed && known.1 != now.1 {
                        send("notifications/prompts/list_changed", json!({}));
                    }
                    known = now;
                }
                update = updates.recv() => match update {
                    Ok(uri) if filter.watches(&uri, exchange) && server.is_shown(&uri, exchange) => {
                        send("notifications/resources/updated", json!({ "uri": &*uri }));
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                },
                () = server.0.ending.cancelled() => break,
                // Who wants to hear more brings another token.
                () = exchange.expired() => break,
            }
        }
        let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: tag } });
        Reply::result(id, |body| write_json(body, &result))
    }
}

/// What a list says, unless it cannot be listed.
type Digest = Option<[u8; 32]>;

fn digests(server: &McpServer, exchange: &Exchange) -> (Digest, Digest) {
    let digest = |what| {
        let reach = exchange.reach(&server.0.whole);
        let list = reach
            .lists
            .get(what, &reach.invoker, exchange.revision, &exchange.caller);
        list.ok().map(|list| list.digest)
    };
    (digest(What::Tools), digest(What::Prompts))
}
