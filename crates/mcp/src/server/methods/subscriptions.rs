//! Who wants to hear of changes, in; the changes as they happen, out.

use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::methods::list_cache::ListKind;
use crate::server::request::request_context::RequestContext;
use crate::server::rpc::message::RpcMessage;
use crate::server::rpc::response::{RpcResponse, notification_json, set_field, write_json};

/// The key under which every notification names its subscription.
const SUBSCRIPTION_ID_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// What somebody wants to hear of.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SubscriptionFilter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

impl SubscriptionFilter {
    /// Reads the filter of `subscriptions/listen`.
    pub(crate) fn parse(message: &RpcMessage<'_>) -> Result<Self, RpcError> {
        let filter = message.params.notifications.map_or("{}", |raw| raw.get());
        serde_json::from_str(filter)
            .map_err(|why| RpcError::invalid_params(format!("`notifications`: {why}")))
    }

    /// Wants all that a session is told without asking.
    pub(crate) fn list_changes() -> Self {
        Self {
            tools_list_changed: true,
            prompts_list_changed: true,
            resource_subscriptions: Vec::new(),
        }
    }

    /// Begins to listen: what changes from now on is heard, however late it is told.
    pub(crate) fn subscribe(self, server: &McpServer, exchange: &RequestContext) -> Subscription {
        Subscription {
            registry_changes: server.0.auth.all_tools().invoker().changes().boxed(),
            resource_updates: server.0.resource_updates.subscribe(),
            last_digests: list_digests(server, exchange),
            filter: self,
        }
    }

    fn includes_resource(&self, uri: &str, exchange: &RequestContext) -> bool {
        let here = self.resource_subscriptions.iter().any(|known| known == uri);
        here || exchange
            .session
            .as_ref()
            .is_some_and(|session| session.is_subscribed(uri))
    }

    fn acknowledged(&self, server: &McpServer) -> Value {
        let mut granted = json!({});
        if self.tools_list_changed {
            set_field(&mut granted, "toolsListChanged", true);
        }
        if self.prompts_list_changed {
            set_field(&mut granted, "promptsListChanged", true);
        }
        if !self.resource_subscriptions.is_empty() && !server.0.resources.is_empty() {
            set_field(
                &mut granted,
                "resourceSubscriptions",
                self.resource_subscriptions.clone(),
            );
        }
        granted
    }
}

/// Somebody who listens.
pub(crate) struct Subscription {
    filter: SubscriptionFilter,
    registry_changes: BoxStream<'static, u64>,
    resource_updates: Receiver<Arc<str>>,
    /// What the tools and the prompts were when the listener last heard of them.
    last_digests: (ListDigest, ListDigest),
}

impl Subscription {
    /// Sends changes until the server ends; whoever does not want them any more drops this.
    pub(crate) async fn run(
        self,
        id: &str,
        server: &McpServer,
        exchange: &Arc<RequestContext>,
    ) -> RpcResponse {
        let Self {
            filter,
            registry_changes: mut changes,
            resource_updates: mut updates,
            last_digests: mut known,
        } = self;
        let tag: Value = match exchange.session {
            Some(_) => Value::Null,
            None => serde_json::from_str(id).unwrap_or_default(),
        };
        let send = |method: &str, mut params: Value| {
            if !tag.is_null() {
                set_field(&mut params, "_meta", json!({ SUBSCRIPTION_ID_KEY: tag }));
            }
            exchange.send(notification_json(method, &params));
        };
        if exchange.session.is_none() {
            send(
                "notifications/subscriptions/acknowledged",
                json!({ "notifications": filter.acknowledged(server) }),
            );
        }
        // Once nobody can change the registry any more, resources may still be updated.
        let mut settled = false;
        loop {
            tokio::select! {
                change = changes.next(), if !settled => {
                    settled = change.is_none();
                    let now = list_digests(server, exchange);
                    if filter.tools_list_changed && known.0 != now.0 {
                        send("notifications/tools/list_changed", json!({}));
                    }
                    if filter.prompts_list_changed && known.1 != now.1 {
                        send("notifications/prompts/list_changed", json!({}));
                    }
                    known = now;
                }
                update = updates.recv() => match update {
                    Ok(uri) if filter.includes_resource(&uri, exchange) && server.is_resource_visible(&uri, exchange) => {
                        send("notifications/resources/updated", json!({ "uri": &*uri }));
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                },
                () = server.0.shutdown.cancelled() => break,
                // Who wants to hear more brings another token.
                () = exchange.wait_expired() => break,
            }
        }
        let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION_ID_KEY: tag } });
        RpcResponse::result(id, |body| write_json(body, &result))
    }
}

/// What a list says, unless it cannot be listed.
type ListDigest = Option<[u8; 32]>;

fn list_digests(server: &McpServer, exchange: &RequestContext) -> (ListDigest, ListDigest) {
    let digest = |what| {
        let tools = server.scoped_tools(exchange);
        let lists = &server.0.lists;
        let list = lists.get_or_render(what, tools, exchange.revision, &exchange.caller);
        list.ok().map(|list| list.digest)
    };
    (digest(ListKind::Tools), digest(ListKind::Prompts))
}
