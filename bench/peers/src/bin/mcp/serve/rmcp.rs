//! rmcp's own server: a `ToolRouter` in a handler, over its own transports.
//!
//! As it comes it has sessions and answers with streams; the other configuration has neither, which is its fastest. The
//! router is shared, so that a handler per session or per request costs nothing.

use std::sync::Arc;

use rmcp::{
    ServerHandler, ServiceExt as _,
    handler::server::{
        common::schema_for_type,
        router::tool::{ToolRoute, ToolRouter},
        wrapper::Parameters,
    },
    model::Tool,
    tool, tool_handler, tool_router,
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use toolwright_bench::sum;

use super::{ADD, Temperature, bind_listener, extra_tool_names};
use crate::servers::Transport;

#[derive(Clone)]
struct Shop {
    router: Arc<ToolRouter<Self>>,
}

#[tool_router]
impl Shop {
    /// Adds two numbers.
    #[tool]
    fn add(&self, Parameters(args): Parameters<sum::Args>) -> String {
        sum::add(args.a, args.b).to_string()
    }

    /// Converts a temperature between Celsius and Fahrenheit.
    #[tool]
    fn convert_temperature(&self, Parameters(args): Parameters<Temperature>) -> String {
        assistant_tools::convert_temperature(args.value, args.from_unit).unwrap()
    }

    /// Reads a page.
    #[tool]
    fn page(&self) -> String {
        super::page()
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Shop {}

pub async fn serve(way: Transport, tools: usize, json: bool) {
    let mut router = Shop::tool_router();
    for name in extra_tool_names(tools) {
        let attributes = Tool::new(name, ADD, schema_for_type::<sum::Args>());
        router.add_route(ToolRoute::new(attributes, Shop::add));
    }
    let router = Arc::new(router);
    let shop = Shop { router };
    match way {
        Transport::Stdio => {
            let service = shop.serve(stdio()).await.unwrap();
            service.waiting().await.unwrap();
        }
        Transport::Http => {
            let config = StreamableHttpServerConfig::default()
                .with_legacy_session_mode(!json)
                .with_json_response(json);
            let sessions = Arc::<LocalSessionManager>::default();
            let service = StreamableHttpService::new(move || Ok(shop.clone()), sessions, config);
            let app = axum::Router::new().nest_service("/mcp", service);
            axum::serve(bind_listener().await, app).await.unwrap();
        }
    }
}
