//! A server made with rmcp's macros, with the sample assistant's tools next to its own; and a client that lists and calls them.

use assistant_tools as _;
use rmcp::handler::server::tool::ToolRouter;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServerHandler, ServiceExt as _};
use rmcp::{tool, tool_handler, tool_router};
use toolwright::{Invoker, Registry};

struct Shop(ToolRouter<Self>);

#[tool_router]
impl Shop {
    /// Says when the shop is open.
    #[tool]
    fn opening_hours(&self) -> String {
        "Monday to Friday, 9 to 17".to_owned()
    }
}

#[tool_handler(router = self.0)]
impl ServerHandler for Shop {}

struct Visitor;

impl ClientHandler for Visitor {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("visitor", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        println!("\n{message}\n> yes\n");
        Ok(ElicitResult::new(ElicitationAction::Accept))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let invoker = Invoker::new(&Registry::discover()?)?;
    let tools = toolwright_rmcp::tools(Shop::tool_router(), &invoker)?;
    let (here, there) = tokio::io::duplex(4096);
    let (server, client) = tokio::join!(Shop(tools).serve(there), Visitor.serve(here));
    let (_server, client) = (server?, client?);
    let tools = client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    println!("{}", names.join(", "));
    for (tool, arguments) in [
        ("opening_hours", "{}"),
        ("get_weather", r#"{"city": "Paris"}"#),
        ("convert_temperature", r#"{"value": 20, "from_unit": "C"}"#),
        ("issue_refund", r#"{"order": "A-1042", "amount": 20}"#),
    ] {
        let arguments = serde_json::from_str(arguments)?;
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = client.call_tool(call).await?;
        let text = result.content.first().and_then(ContentBlock::as_text);
        println!("→ {}", text.map_or("", |text| &text.text));
    }
    Ok(())
}
