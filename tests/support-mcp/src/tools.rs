//! One bundle for all tests.

use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toolwright::{
    Content, Invoker, Json, JsonSchema, Progress, Registry, SessionId, State, ToolError, tools,
};
use toolwright_mcp::{ClientPeer, LogLevel, McpServer, McpServerBuilder};

/// A sum, taken apart.
#[derive(Serialize, JsonSchema)]
#[schemars(crate = "toolwright::schemars")]
pub struct Sum {
    total: i64,
}

/// The events of a tool that waits, for the test.
pub type Heard = UnboundedSender<&'static str>;

/// Sends an event when it is dropped.
struct Waiting(Heard);

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

/// The tools. Discovery does not find them, because they are linked into tests that discover the tools of others.
pub struct TestTools;

#[tools(manual)]
impl TestTools {
    /// Adds two numbers.
    #[tool(read_only)]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Adds numbers, and says so in JSON.
    #[tool(read_only, title = "Adder", icon = "https://example.com/sum.png")]
    fn sum(numbers: Vec<i64>) -> Json<Sum> {
        Json(Sum { total: numbers.iter().sum() })
    }

    /// Lists the numbers below another.
    #[tool(read_only)]
    fn below(n: u32) -> Json<Vec<u32>> {
        Json((0..n).collect())
    }

    /// Returns content of every kind.
    #[tool(read_only)]
    fn mixed() -> Vec<Content> {
        vec![
            Content::text("here:"),
            Content::image("image/png", b"\x89PNG"),
            Content::audio("audio/wav", b"RIFF"),
            Content::resource("test://r", "text"),
            Content::link("test://l", "a link"),
        ]
    }

    /// Fails.
    #[tool]
    fn fail() -> Result<String, ToolError> {
        Err(ToolError::failed("out of paper"))
    }

    /// Says which session it is called in.
    #[tool(read_only)]
    fn session(session: SessionId) -> String {
        session.to_string()
    }

    /// Says how far it is.
    #[tool]
    fn steps(progress: Progress, client: ClientPeer) -> &'static str {
        progress.report(1.0, 2.0, "half");
        progress.report(1.0, 2.0, "still half");
        client.log(LogLevel::Warning, "test", "odd");
        progress.report(2.0, 2.0, "all");
        "done"
    }

    /// Erases something for good.
    #[tool(destructive)]
    fn erase(path: String) -> String {
        format!("erased {path}")
    }

    /// Waits for ever.
    #[tool]
    async fn wait(heard: State<Heard>, client: ClientPeer) -> String {
        let waiting = Waiting(heard.0.as_ref().clone());
        client.log(LogLevel::Error, "test", "waiting");
        heard.send("started").unwrap();
        std::future::pending::<()>().await;
        drop(waiting);
        String::new()
    }
}

/// A registry, the invoker of its tools, and the events of these.
pub struct Kit {
    /// The registry, which a test may change.
    pub registry: Registry,
    /// The invoker of its tools.
    pub invoker: Invoker,
    /// What the waiting tool reports.
    pub heard: UnboundedReceiver<&'static str>,
}

/// A registry of all tools.
pub fn kit() -> Kit {
    let registry = Registry::new();
    registry.add(TestTools).unwrap();
    let (sender, heard) = unbounded_channel();
    let invoker = Invoker::builder(&registry).state(sender).build().unwrap();
    Kit { registry, invoker, heard }
}

/// A server of these tools.
pub fn server(kit: &Kit) -> McpServerBuilder {
    McpServer::builder(kit.invoker.clone()).name("test").version("1")
}

/// The text of a result's first item.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
