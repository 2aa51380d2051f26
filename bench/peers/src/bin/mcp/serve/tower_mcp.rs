//! tower-mcp's router, over its own transports as they come.

use toolwright_bench::sum;
use tower_mcp::{
    CallToolResult, HttpTransport, McpRouter, NoParams, StdioTransport, Tool, ToolBuilder,
};

use super::{ADD, CONVERT, READ, Temperature, bind_listener, extra_tool_names};
use crate::servers::Transport;

fn add(name: String) -> Tool {
    ToolBuilder::new(name)
        .description(ADD)
        .handler(|args: sum::Args| async move {
            Ok(CallToolResult::text(sum::add(args.a, args.b).to_string()))
        })
        .build()
}

pub async fn serve(way: Transport, tools: usize) {
    let page = ToolBuilder::new("page")
        .description(READ)
        .handler(|_: NoParams| async { Ok(CallToolResult::text(super::page())) })
        .build();
    let router = McpRouter::new().server_info("tower-mcp", "1.0.0");
    let convert = ToolBuilder::new("convert_temperature")
        .description(CONVERT)
        .handler(|args: Temperature| async move {
            let converted = assistant_tools::convert_temperature(args.value, args.from_unit);
            Ok(CallToolResult::text(converted.unwrap()))
        })
        .build();
    let router = router.tool(add("add".to_owned())).tool(page).tool(convert);
    let router = extra_tool_names(tools).fold(router, |router, name| router.tool(add(name)));
    match way {
        Transport::Stdio => StdioTransport::new(router).run().await.unwrap(),
        Transport::Http => {
            let app = HttpTransport::new(router).into_router_at("/mcp");
            axum::serve(bind_listener().await, app).await.unwrap();
        }
    }
}
