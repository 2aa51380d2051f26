//! What a server says unasked in, progress, questions and news out.

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
use toolwright_core::Progress;

use crate::client::elicit::{ElicitHandler, answer_elicitation};
use crate::import::sanitize;

/// More of a progress message is not passed on.
const MAX_MESSAGE_BYTES: usize = 1 << 10;

/// What one connection hears.
pub(crate) struct HandlerState {
    server: Arc<str>,
    elicit: Option<Arc<dyn ElicitHandler>>,
    /// One question at a time: a person cannot answer more.
    elicit_permit: Semaphore,
    /// Who waits for the progress of which call. It is locked while a call is sent, so that no progress comes too early.
    pub(crate) progress: Mutex<HashMap<ProgressToken, Progress>>,
    /// Told when the server's lists have changed.
    pub(crate) list_changed: Arc<Notify>,
    revision: ProtocolVersion,
}

impl HandlerState {
    pub(crate) fn new(
        server: Arc<str>,
        elicit: Option<Arc<dyn ElicitHandler>>,
        news: Arc<Notify>,
        revision: ProtocolVersion,
    ) -> Arc<Self> {
        Arc::new(Self {
            server,
            elicit,
            elicit_permit: Semaphore::new(1),
            progress: Mutex::default(),
            list_changed: news,
            revision,
        })
    }

    pub(crate) async fn answer_elicitation(&self, asked: ElicitRequestParams) -> ElicitResult {
        // It is never closed; were it, the question would be asked all the same.
        let _turn = self.elicit_permit.acquire().await;
        answer_elicitation(self.elicit.as_deref(), &self.server, asked).await
    }
}

/// Hears for rmcp.
pub(crate) struct McpClientHandler(pub(crate) Arc<HandlerState>);

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.0.elicit.is_some() {
            let form = FormElicitationCapability::new().with_schema_validation(true);
            let both = ElicitationCapability::new()
                .with_form(form)
                .with_url(UrlElicitationCapability::default());
            capabilities.elicitation = Some(both);
        }
        let us = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, us).with_protocol_version(self.0.revision.clone())
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.0.answer_elicitation(asked).await)
    }

    async fn on_progress(
        &self,
        said: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let waiting = self.0.progress.lock().await;
        if let Some(progress) = waiting.get(&said.progress_token).cloned() {
            drop(waiting);
            let message = said
                .message
                .map(|message| sanitize(&message, MAX_MESSAGE_BYTES));
            progress.forward(Some(said.progress), said.total, message);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }
}
