//! Handles the requests and notifications of a server: elicitations, progress, changed lists.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::{Mutex, Notify, Semaphore};
use toolwright_core::__internal::program;
use toolwright_core::Progress;

use crate::client::elicit::{ElicitHandler, answer_elicitation};
use crate::client::setup::validated_server::ValidatedServer;
use crate::import::sanitize;

/// Longer progress messages are truncated.
const MAX_MESSAGE_BYTES: usize = 1 << 10;

/// The state of one connection's handler.
pub(crate) struct HandlerState {
    server: Arc<str>,
    elicit: Option<Arc<dyn ElicitHandler>>,
    /// Elicitations are answered one at a time, since there is one user.
    elicit_permit: Semaphore,
    /// The receivers of progress. Locked while a call is sent, so that none of its progress is missed.
    pub(crate) progress: Mutex<HashMap<ProgressToken, Progress>>,
    /// Notified when the server's lists have changed.
    pub(crate) list_changed: Arc<Notify>,
    revision: ProtocolVersion,
}

impl HandlerState {
    pub(crate) fn new(config: &ValidatedServer, list_changed: &Arc<Notify>) -> Arc<Self> {
        let newest = ProtocolVersion::LATEST_WITH_INITIALIZE;
        Arc::new(Self {
            server: Arc::clone(&config.name),
            elicit: config.elicit.clone(),
            elicit_permit: Semaphore::new(1),
            progress: Mutex::default(),
            list_changed: Arc::clone(list_changed),
            revision: config.revision.clone().unwrap_or(newest),
        })
    }

    pub(crate) async fn answer_elicitation(&self, params: ElicitRequestParams) -> ElicitResult {
        // The semaphore is never closed, so this does not fail.
        let _permit = self.elicit_permit.acquire().await;
        answer_elicitation(self.elicit.as_deref(), &self.server, params).await
    }
}

/// The handler that rmcp calls.
pub(crate) struct McpClientHandler(pub(crate) Arc<HandlerState>);

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.0.elicit.is_some() {
            let form = FormElicitationCapability::new().with_schema_validation(true);
            let elicitation = ElicitationCapability::new()
                .with_form(form)
                .with_url(UrlElicitationCapability::default());
            capabilities.elicitation = Some(elicitation);
        }
        let (name, version) = program();
        let implementation = Implementation::new(name, version);
        ClientConfig::new(capabilities, implementation)
            .with_protocol_version(self.0.revision.clone())
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.0.answer_elicitation(params).await)
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let receivers = self.0.progress.lock().await;
        if let Some(receiver) = receivers.get(&progress.progress_token).cloned() {
            drop(receivers);
            let message = progress.message.map(|message| sanitize(&message, MAX_MESSAGE_BYTES));
            receiver.forward(Some(progress.progress), progress.total, message);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }
}
