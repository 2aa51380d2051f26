//! rmcp's `ToolRouter`: text → `JsonObject` → `CallToolRequestParams` → router → typed arguments → content → text.
//!
//! That is what a server does between the arguments of a `tools/call` and its result; JSON-RPC around it is left out,
//! except in the row that goes through a client, a server and an in-memory pipe. The router's context needs a `Peer`,
//! which only a running service has: one is started on a pipe that stays silent.

use std::hint::black_box;

use rmcp::{
    RoleServer, ServerHandler, ServiceExt,
    handler::server::{
        router::tool::ToolRouter,
        tool::ToolCallContext,
        wrapper::{Json, Parameters},
    },
    model::{CallToolRequestParams, CallToolResponse, ContentBlock, NumberOrString},
    service::{Peer, RequestContext, RunningService, serve_directly},
    tool, tool_handler, tool_router,
};
use tokio::{io::duplex, runtime::Runtime};
use toolwright_bench::{
    Comparison,
    order::{self, Receipt, plain},
    sum,
};

const PIPE_BYTES: usize = 64 * 1024;

pub(super) struct ShopServer {
    router: ToolRouter<Self>,
}

#[tool_router]
impl ShopServer {
    /// Places an order.
    #[tool]
    fn place(&self, Parameters(args): Parameters<plain::Args>) -> String {
        serde_json::to_string(&plain::work(args.order, args.dry_run)).unwrap()
    }

    /// Places an order.
    #[tool]
    fn place_json(&self, Parameters(args): Parameters<plain::Args>) -> Json<Receipt> {
        Json(plain::work(args.order, args.dry_run))
    }

    /// Adds two numbers.
    #[tool]
    fn add(&self, Parameters(args): Parameters<sum::Args>) -> String {
        sum::add(args.a, args.b).to_string()
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for ShopServer {}

impl ShopServer {
    fn new() -> Self {
        Self { router: Self::tool_router() }
    }
}

/// Adds the rows of the nested order.
pub fn add_order_rows<'a>(race: Comparison<'a>, runtime: &'a Runtime) -> Comparison<'a> {
    let (kept, structured, rebuilt) =
        (LocalRouter::new(runtime), LocalRouter::new(runtime), LocalRouter::new(runtime));
    let remote = runtime.block_on(RemoteClient::new());
    race.add_async_function("rmcp ToolRouter, String", async move || {
        let router = &kept.service.service().router;
        kept.call(router, "place", black_box(order::ARGUMENTS_JSON)).await
    })
    .add_async_function("rmcp ToolRouter, Json<T>", async move || {
        let router = &structured.service.service().router;
        structured.call(router, "place_json", black_box(order::ARGUMENTS_JSON)).await
    })
    // What `#[tool_handler]` does without a stored router.
    .add_async_function("rmcp ToolRouter, rebuilt for each call", async move || {
        rebuilt.call(&ShopServer::tool_router(), "place", black_box(order::ARGUMENTS_JSON)).await
    })
    .add_async_function("rmcp client, pipe, server", async move || {
        remote.call("place", black_box(order::ARGUMENTS_JSON)).await
    })
}

/// Adds the rows of the small call.
pub fn add_sum_rows<'a>(race: Comparison<'a>, runtime: &'a Runtime) -> Comparison<'a> {
    let local = LocalRouter::new(runtime);
    let remote = runtime.block_on(RemoteClient::new());
    race.add_async_function("rmcp ToolRouter, String", async move || {
        let router = &local.service.service().router;
        local.call(router, "add", black_box(sum::ARGUMENTS_JSON)).await
    })
    .add_async_function("rmcp client, pipe, server", async move || {
        remote.call("add", black_box(sum::ARGUMENTS_JSON)).await
    })
}

/// The router called directly.
pub(super) struct LocalRouter {
    service: RunningService<RoleServer, ShopServer>,
    peer: Peer<RoleServer>,
    _silence: tokio::io::DuplexStream,
}

impl LocalRouter {
    pub(super) fn new(runtime: &Runtime) -> Self {
        let _guard = runtime.enter();
        let (ours, theirs) = duplex(PIPE_BYTES);
        let service = serve_directly(ShopServer::new(), theirs, None);
        let peer = service.peer().clone();
        Self { service, peer, _silence: ours }
    }

    pub(super) async fn call(
        &self,
        router: &ToolRouter<ShopServer>,
        name: &'static str,
        text: &str,
    ) -> String {
        let shop = self.service.service();
        let context = RequestContext::new(NumberOrString::Number(1), self.peer.clone());
        let context = ToolCallContext::new(shop, params(name, text), context);
        result_text(router.call(context).await.unwrap())
    }
}

/// A client and a server, each a task of the same thread, and a pipe between them.
struct RemoteClient {
    client: RunningService<rmcp::RoleClient, ()>,
    _server: RunningService<RoleServer, ShopServer>,
}

impl RemoteClient {
    async fn new() -> Self {
        let (ours, theirs) = duplex(PIPE_BYTES);
        let server = tokio::spawn(async { ShopServer::new().serve(theirs).await.unwrap() });
        let client = ().serve(ours).await.unwrap();
        Self { client, _server: server.await.unwrap() }
    }

    async fn call(&self, name: &'static str, text: &str) -> String {
        result_text(self.client.call_tool_once(params(name, text)).await.unwrap())
    }
}

fn params(name: &'static str, text: &str) -> CallToolRequestParams {
    CallToolRequestParams::new(name).with_arguments(serde_json::from_str(text).unwrap())
}

fn result_text(response: CallToolResponse) -> String {
    let CallToolResponse::Complete(result) = response else {
        panic!("the call is not complete");
    };
    match result.content.into_iter().next() {
        Some(ContentBlock::Text(content)) => content.text,
        other => panic!("no text: {other:?}"),
    }
}
