//! The parts of a server: the table of what can be mounted.

use std::sync::Arc;

use axum::Router;
use axum::routing::{delete, get, post};
use toolwright_core::{ToolSelection, delegate_tool_selection};

use super::routes::Routes;
use super::{
    ApiState, approvals, connections, console, info, openapi, prompts, quota, ready, show_metrics,
    tools,
};
use crate::auth::middleware::Access;
use crate::auth::{account, login, sign_in_routes};
use crate::endpoint::server_state::ServerState;
use crate::endpoint::{ASSISTANT_PATH, EndpointRuntime};
use crate::protocols::native::{conversation_list, management};
use crate::protocols::{ag_ui, ai_sdk, native, openai};

/// The path of the MCP server.
pub(crate) const MCP_PATH: &str = "/mcp";

/// A part of a server that [`ServerBuilder::mount`](crate::ServerBuilder::mount) adds to its router.
///
/// A part offers a tool or prompt only if every mounted endpoint does, whenever the tool was added. A part with a selection of
/// its own offers what that selects instead, also what an endpoint excludes. The selection is made with the methods that
/// [`Endpoint`](crate::Endpoint) has, too.
///
/// # Examples
///
/// ```
/// # use toolwright::testing::ScriptedModel;
/// # use toolwright::{Invoker, Registry, tool};
/// # /// Finds an order.
/// # #[tool(read_only)]
/// # fn find_order() {}
/// # /// Issues a refund.
/// # #[tool]
/// # fn issue_refund() {}
/// # let registry = Registry::new();
/// # registry.add(vec![find_order::tool(), issue_refund::tool()])?;
/// use toolwright::server::{Endpoint, Mount, ServerBuilder};
///
/// let server = ServerBuilder::new(Invoker::new(&registry)?, ScriptedModel::new())
///     .endpoint(Endpoint::new("/support").exclude(["issue_refund"]))
///     .mount(Mount::ai_sdk())
///     .mount(Mount::mcp().only_tools_named(["find_order"]))
///     .build()?;
/// assert!(server.paths().contains(&"/mcp".to_owned()));
/// assert!(!server.paths().iter().any(|path| path.starts_with("/api")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mount {
    pub(crate) part: Part,
    pub(crate) selection: ToolSelection,
}

delegate_tool_selection!(Mount);

impl Mount {
    fn new(part: Part) -> Self {
        Self { part, selection: ToolSelection::default() }
    }

    /// The console at `/`, together with [`api`](Self::api), which it needs and which has its selection.
    pub fn console() -> Self {
        Self::new(Part::Console)
    }

    /// The plain routes under `/api`: tools, prompts, conversations, login, the OpenAPI document. The conversations are those of
    /// the assistant endpoint; an explicit [`Endpoint::assistant`](crate::Endpoint::assistant) with a selection of its own has
    /// that selection for all of these routes.
    pub fn api() -> Self {
        Self::new(Part::Api)
    }

    /// The routes of the AI SDK at every endpoint: `PATH/chat`, `PATH/stream`, and `/api/chat` where [`api`](Self::api) is mounted.
    pub fn ai_sdk() -> Self {
        Self::new(Part::AiSdk)
    }

    /// AG-UI at `/agui`. With a selection of its own, its threads are apart from the conversations under `/api`.
    pub fn ag_ui() -> Self {
        Self::new(Part::AgUi)
    }

    /// OpenAI's Chat Completions and models under `/v1`.
    pub fn openai() -> Self {
        Self::new(Part::OpenAi)
    }

    /// The tools and prompts over MCP at `/mcp`. With OAuth, clients look for its metadata at the root of the host: see
    /// [`Server::well_known`](crate::Server::well_known).
    pub fn mcp() -> Self {
        Self::new(Part::Mcp)
    }

    /// `/metrics`, `/healthz` and `/readyz`.
    pub fn metrics() -> Self {
        Self::new(Part::Metrics)
    }

    /// Every part, without a selection.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        PARTS.iter().map(|row| Self::new(row.part))
    }
}

/// A part of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Console,
    Api,
    AiSdk,
    AgUi,
    OpenAi,
    Mcp,
    Metrics,
}

/// A row of the table.
pub(crate) struct PartRow {
    pub(crate) part: Part,
    /// The name of its function of [`Mount`].
    pub(crate) name: &'static str,
    /// The first segment of its paths, which no endpoint may have.
    pub(crate) segments: &'static [&'static str],
    pub(crate) routes: PartRoutes,
}

/// How the routes of a part are made.
pub(crate) enum PartRoutes {
    /// From the server alone.
    Server(fn(&Arc<ServerState>) -> Vec<Routes>),
    /// From an endpoint whose conversations the part runs: the assistant endpoint, or one with the part's own selection.
    Assistant(fn(&ApiState) -> Vec<Routes>),
    /// At every endpoint.
    Endpoint(fn(&Arc<EndpointRuntime>) -> Vec<Routes>),
}

/// All parts.
pub(crate) const PARTS: &[PartRow] = &[
    PartRow {
        part: Part::Console,
        name: "console",
        segments: &[],
        routes: PartRoutes::Server(console_routes),
    },
    PartRow {
        part: Part::Api,
        name: "api",
        segments: &["api"],
        routes: PartRoutes::Assistant(api_routes),
    },
    PartRow {
        part: Part::AiSdk,
        name: "ai_sdk",
        segments: &[],
        routes: PartRoutes::Endpoint(ai_sdk_routes),
    },
    PartRow {
        part: Part::AgUi,
        name: "ag_ui",
        segments: &["agui"],
        routes: PartRoutes::Assistant(ag_ui_routes),
    },
    PartRow {
        part: Part::OpenAi,
        name: "openai",
        segments: &["v1"],
        routes: PartRoutes::Assistant(openai_routes),
    },
    PartRow {
        part: Part::Mcp,
        name: "mcp",
        segments: &["mcp", ".well-known"],
        routes: PartRoutes::Server(mcp_routes),
    },
    PartRow {
        part: Part::Metrics,
        name: "metrics",
        segments: &["healthz", "readyz", "metrics"],
        routes: PartRoutes::Server(metrics_routes),
    },
];

impl PartRow {
    /// Returns true if the part offers tools, and not those of an endpoint.
    pub(crate) fn has_tools(&self) -> bool {
        self.part == Part::Mcp || matches!(self.routes, PartRoutes::Assistant(_))
    }
}

impl Part {
    pub(crate) fn row(self) -> Option<&'static PartRow> {
        PARTS.iter().find(|row| row.part == self)
    }

    /// The other part that it cannot work without.
    pub(crate) fn needs(self) -> Option<Self> {
        (self == Self::Console).then_some(Self::Api)
    }
}

fn console_routes(server: &Arc<ServerState>) -> Vec<Routes> {
    let router = console::router(&server.branding);
    vec![Routes::from_router(Access::Page, router, vec!["/".to_owned()])]
}

fn api_routes(state: &ApiState) -> Vec<Routes> {
    let routes = [
        ("/api/info", get(info::show_info)),
        (ASSISTANT_PATH, get(conversation_list::list_conversations)),
        ("/api/shares", post(management::accept_share)),
        ("/api/shares/{share-id}", delete(management::leave_share)),
        ("/api/approvals", get(approvals::list_approvals)),
        ("/api/approvals/{approval-id}", post(approvals::decide)),
        ("/api/audit", get(management::list_accesses)),
        ("/api/tools", get(tools::list_tools)),
        ("/api/tools/{name}", post(tools::call_tool)),
        ("/api/tools/{name}/lowered", get(tools::show_lowered_schema)),
        ("/api/prompts", get(prompts::list_prompts)),
        ("/api/prompts/{name}", post(prompts::render_prompt)),
        ("/api/openapi.json", get(openapi::show_openapi)),
        ("/api/quota", get(quota::show_quota)),
        ("/api/connections", get(connections::list_connections)),
        (
            "/api/connections/{name}",
            post(connections::begin_connection).delete(connections::remove_connection),
        ),
    ];
    let session = [
        ("/api/session", post(login::log_in).delete(login::log_out)),
        ("/api/login", get(sign_in_routes::list_providers)),
        ("/api/login/{name}", get(sign_in_routes::begin)),
        ("/api/login/{name}/callback", get(sign_in_routes::complete)),
        (connections::CALLBACK_PATH, get(connections::return_to_server)),
    ];
    let account = [
        (connections::FINISH_PATH, get(connections::finish_connection)),
        ("/api/me", get(account::show_me)),
        ("/api/sessions", get(account::list_sessions)),
        ("/api/sessions/{id}", delete(account::end_session)),
    ];
    vec![
        Routes::new(Access::Credential, state, routes),
        Routes::new(Access::Credential, &state.server, account),
        Routes::new(Access::Public, &state.server, session),
    ]
}

/// The routes of every endpoint, below its path.
pub(super) fn endpoint_routes(endpoint: &Arc<EndpointRuntime>, has_ai_sdk: bool) -> Routes {
    let path = &endpoint.template.path;
    let mut conversation = get(native::show_or_upgrade)
        .delete(native::delete_conversation)
        .patch(management::rename_conversation);
    if has_ai_sdk && endpoint.template.collection_path().is_some() {
        // A route of its own would hide the conversation of the id `chat`.
        conversation = conversation.post(ai_sdk::post_chat_without_id);
    }
    let routes = [
        (path.clone(), conversation),
        (format!("{path}/events"), get(native::subscribe_events)),
        (format!("{path}/prompt"), post(native::post_message)),
        // No parameter of an endpoint's path has a hyphen.
        (format!("{path}/queue/{{queue-position}}"), delete(native::withdraw_message)),
        (format!("{path}/shares"), get(management::list_shares).post(management::create_share)),
        (format!("{path}/shares/{{share-id}}"), delete(management::revoke_share)),
        (format!("{path}/decide"), post(native::post_decision)),
        (format!("{path}/stop"), post(native::stop_turn)),
        (format!("{path}/export"), get(native::export_journal)),
    ];
    Routes::new(Access::Credential, endpoint, routes)
}

fn ai_sdk_routes(endpoint: &Arc<EndpointRuntime>) -> Vec<Routes> {
    let path = &endpoint.template.path;
    let chat = || post(ai_sdk::post_chat).get(ai_sdk::websocket::upgrade);
    let mut routes = vec![
        (format!("{path}/chat"), chat()),
        (format!("{path}/stream"), get(ai_sdk::resume_stream)),
    ];
    match endpoint.template.collection_path() {
        // The default paths of the AI SDK's transport.
        Some(ASSISTANT_PATH) => routes.extend([
            ("/api/chat".to_owned(), chat()),
            ("/api/chat/{id}/stream".to_owned(), get(ai_sdk::resume_stream)),
            ("/api/chat/{id}/stop".to_owned(), post(native::stop_turn)),
        ]),
        Some(path) => routes.push((path.to_owned(), chat())),
        None => {}
    }
    vec![Routes::new(Access::Credential, endpoint, routes)]
}

fn ag_ui_routes(state: &ApiState) -> Vec<Routes> {
    vec![Routes::new(Access::Credential, state, [("/agui", post(ag_ui::run))])]
}

fn openai_routes(state: &ApiState) -> Vec<Routes> {
    let routes = [
        ("/v1/chat/completions", post(openai::create_completion)),
        ("/v1/models", get(openai::list_models)),
        ("/v1/models/{name}", get(openai::show_model)),
    ];
    vec![Routes::new(Access::Credential, state, routes)]
}

fn mcp_routes(server: &Arc<ServerState>) -> Vec<Routes> {
    let nested = |mcp| Router::new().nest(MCP_PATH, toolwright_mcp::McpServer::router(mcp));
    let routers = server.mcp.iter().map(nested);
    routers
        .map(|router| Routes::from_router(Access::Mcp, router, vec![MCP_PATH.to_owned()]))
        .collect()
}

fn metrics_routes(server: &Arc<ServerState>) -> Vec<Routes> {
    let public = [("/healthz", get(async || "ok\n")), ("/readyz", get(ready))];
    vec![
        Routes::new(Access::Public, server, public),
        Routes::new(Access::Monitoring, server, [("/metrics", get(show_metrics))]),
    ]
}
