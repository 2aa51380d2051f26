//! A server with a tool of its own and ours, and a client that records what it receives, over memory.

use std::sync::{Arc, Mutex};

use rmcp::handler::server::tool::{ToolCallContext, ToolRouter};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, Implementation, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient, RoleServer,
    ServerHandler, ServiceExt as _, tool, tool_handler, tool_router,
};
use toolwright::{Bridge, BridgeError, Caller};

/// Begins a connection with a handshake, or without any.
pub(crate) fn lifecycle(stateless: bool) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match stateless {
        true => ClientLifecycleMode::Discover { preferred_versions },
        false => ClientLifecycleMode::Initialize,
    }
}

/// The server.
#[derive(Clone)]
pub(crate) struct TestServer {
    tools: ToolRouter<Self>,
    /// Whom it takes its callers for.
    pub(crate) caller: Option<&'static str>,
}

#[tool_router]
impl TestServer {
    /// Says hello.
    #[tool]
    fn hello(&self) -> String {
        "hello from the desk".to_owned()
    }

    /// Makes one with an invoker's tools.
    pub(crate) fn new(bridge: impl Into<Bridge>) -> Result<Self, BridgeError> {
        Ok(Self { tools: toolwright_rmcp::tools(Self::tool_router(), bridge)?, caller: None })
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for TestServer {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(caller) = self.caller {
            context.extensions.insert(Caller::new(caller));
        }
        let call = ToolCallContext::new(self, request, context);
        self.tools.call(call).await
    }
}

/// The progress of a call, and its message.
pub(crate) type Step = (f64, Option<String>);

/// The client, and its person.
#[derive(Clone, Default)]
pub(crate) struct TestClient {
    /// The answer to an elicitation; without it the client does not support elicitation.
    pub(crate) elicitation: Option<ElicitationAction>,
    /// What the person was asked.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// What was heard of progress.
    pub(crate) steps: Arc<Mutex<Vec<Step>>>,
}

impl TestClient {
    /// Makes one whose person can be asked.
    pub(crate) fn answering(action: ElicitationAction) -> Self {
        Self { elicitation: Some(action), ..Self::default() }
    }
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.elicitation {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("visitor", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            self.asked.lock().unwrap().push(message);
        }
        let action = self.elicitation.clone().unwrap_or(ElicitationAction::Cancel);
        Ok(ElicitResult::new(action))
    }

    async fn on_progress(
        &self,
        step: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let mut steps = self.steps.lock().unwrap();
        steps.push((step.progress, step.message));
    }
}

/// Connects the two.
pub(crate) async fn connect(
    desk: TestServer,
    visitor: TestClient,
    lifecycle: ClientLifecycleMode,
) -> RunningService<RoleClient, TestClient> {
    let (here, there) = tokio::io::duplex(4096);
    tokio::spawn(async move { desk.serve(there).await.unwrap().waiting().await });
    visitor.serve_with_lifecycle(here, lifecycle).await.unwrap()
}

/// Makes a request of a call; arguments that are no object cannot be sent.
pub(crate) fn request(tool: &str, arguments: &str) -> Option<CallToolRequestParams> {
    let request = CallToolRequestParams::new(tool.to_owned());
    match arguments {
        "" => Some(request),
        text => Some(request.with_arguments(serde_json::from_str(text).ok()?)),
    }
}
