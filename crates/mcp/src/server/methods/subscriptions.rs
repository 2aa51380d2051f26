//! Subscriptions to changes of lists and resources.

use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::server::cluster::ListChanges;
use crate::server::{
    ListKind, Request, RequestContext, RpcError, RpcMessage, RpcResponse, notification_json,
    set_field,
};

/// The key under which every notification names its subscription.
const SUBSCRIPTION_ID_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// The changes that a client subscribes to.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SubscriptionFilter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

impl SubscriptionFilter {
    /// Parses the parameters of `subscriptions/listen`.
    pub(crate) fn parse(message: &RpcMessage<'_>) -> Result<Self, RpcError> {
        let filter = message.params.notifications.map_or("{}", |raw| raw.get());
        serde_json::from_str(filter)
            .map_err(|error| RpcError::invalid_params(format!("`notifications`: {error}")))
    }

    /// The changes that every session is notified of.
    pub(crate) fn list_changes() -> Self {
        Self {
            tools_list_changed: true,
            prompts_list_changed: true,
            resource_subscriptions: Vec::new(),
        }
    }

    /// Starts the subscription: changes from now on count, even if [`run`](Subscription::run) is called later.
    pub(crate) fn subscribe(self, request: &Request) -> Subscription {
        let server = &request.server.0;
        Subscription {
            registry_changes: server.all_tools.invoker().changes().boxed(),
            resource_updates: server.resource_updates.subscribe(),
            remote_list_changes: server.remote_list_changes.subscribe(),
            last_digests: list_digests(request),
            filter: self,
        }
    }

    fn includes_resource(&self, uri: &str, context: &RequestContext) -> bool {
        let in_filter = self.resource_subscriptions.iter().any(|known| known == uri);
        in_filter || context.session.as_ref().is_some_and(|session| session.is_subscribed(uri))
    }

    fn acknowledged(&self, has_resources: bool) -> Value {
        let mut accepted = json!({});
        if self.tools_list_changed {
            set_field(&mut accepted, "toolsListChanged", true);
        }
        if self.prompts_list_changed {
            set_field(&mut accepted, "promptsListChanged", true);
        }
        if !self.resource_subscriptions.is_empty() && has_resources {
            set_field(&mut accepted, "resourceSubscriptions", self.resource_subscriptions.clone());
        }
        accepted
    }
}

/// A started subscription.
pub(crate) struct Subscription {
    filter: SubscriptionFilter,
    registry_changes: BoxStream<'static, u64>,
    resource_updates: Receiver<Arc<str>>,
    /// Of other nodes.
    remote_list_changes: Receiver<ListChanges>,
    /// The digests of the lists of tools and prompts at the last notification.
    last_digests: (ListDigest, ListDigest),
}

impl Subscription {
    /// Sends notifications until the server shuts down or the token expires; dropping it ends the subscription.
    pub(crate) async fn run(self, request: &Request) -> RpcResponse {
        let (server, context) = (&request.server.0, &request.context);
        let Self { filter, mut registry_changes, mut resource_updates, .. } = self;
        let Self { mut remote_list_changes, mut last_digests, .. } = self;
        let tag: Value = match context.session {
            Some(_) => Value::Null,
            None => serde_json::from_str(&request.id).unwrap_or_default(),
        };
        let send = |method: &str, mut params: Value| {
            if !tag.is_null() {
                set_field(&mut params, "_meta", json!({ SUBSCRIPTION_ID_KEY: tag }));
            }
            context.send(notification_json(method, &params));
        };
        if context.session.is_none() {
            let accepted = filter.acknowledged(!server.resources.is_empty());
            let params = json!({ "notifications": accepted });
            send("notifications/subscriptions/acknowledged", params);
        }
        let send_list_changes = |changed: ListChanges| {
            if filter.tools_list_changed && changed.tools {
                send("notifications/tools/list_changed", json!({}));
            }
            if filter.prompts_list_changed && changed.prompts {
                send("notifications/prompts/list_changed", json!({}));
            }
        };
        // When the registry cannot change any more, resources may still be updated.
        let mut is_registry_closed = false;
        loop {
            tokio::select! {
                change = registry_changes.next(), if !is_registry_closed => {
                    is_registry_closed = change.is_none();
                    let now = list_digests(request);
                    let tools = last_digests.0 != now.0;
                    send_list_changes(ListChanges { tools, prompts: last_digests.1 != now.1 });
                    last_digests = now;
                }
                // Which of them the client may see, only the other node knows: it lists them again.
                changes = remote_list_changes.recv() => match changes {
                    Ok(changes) => send_list_changes(changes),
                    Err(RecvError::Lagged(_)) => send_list_changes(ListChanges { tools: true, prompts: true }),
                    Err(RecvError::Closed) => break,
                },
                update = resource_updates.recv() => match update {
                    Ok(uri) if filter.includes_resource(&uri, context) && request.is_resource_visible(&uri) => {
                        send("notifications/resources/updated", json!({ "uri": &*uri }));
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                },
                () = server.shutdown.cancelled() => break,
                // The client subscribes again with a new token.
                () = context.wait_expired() => break,
            }
        }
        request.json_result(
            &json!({ "resultType": "complete", "_meta": { SUBSCRIPTION_ID_KEY: tag } }),
        )
    }
}

/// `None` if the list cannot be rendered.
type ListDigest = Option<[u8; 32]>;

fn list_digests(request: &Request) -> (ListDigest, ListDigest) {
    let digest = |kind| request.rendered_list(kind).ok().map(|list| list.digest());
    (digest(ListKind::Tools), digest(ListKind::Prompts))
}
