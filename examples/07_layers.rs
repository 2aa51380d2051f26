//! Layers stand around a call in one fixed order, whatever order they are added in.
//!
//! ```console
//! $ cargo run -q --example 07_layers
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use toolwright::{
    Cache, Invocation, Invoker, Layer, Next, Place, RateLimit, Registry, Retry, ToolCall,
    ToolError, ToolResult, tool,
};

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Returns a share's price. Its first run fails, as exchanges do.
#[tool(read_only)]
fn share_price(share: String) -> Result<String, ToolError> {
    match RUNS.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ToolError::failed("the exchange is busy")),
        _ => Ok(format!("{share}: 42 EUR")),
    }
}

/// A layer of one's own: says what passes through it.
struct Watch(Place);

impl Layer for Watch {
    fn place(&self) -> Place {
        self.0
    }

    fn around<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let read = if call.arguments().is_some() { "read" } else { "not read yet" };
            println!("  {:?}: arguments {read}", self.0);
            let result = next.run().await;
            println!("  {:?}: {}", self.0, result.text());
            result
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(share_price::tool())?;

    // From the outside: rate limit, outer, (arguments, approval), cache, retry, inner.
    let view = registry
        .all()
        .layer(Watch(Place::Inner))
        .layer(Retry::new(2).pause(Duration::from_millis(1)))
        .layer(Cache::new(Duration::from_secs(60)))
        .layer(Watch(Place::Outer))
        .layer_where(RateLimit::new(2, Duration::from_secs(3600)), |tool| tool.name == "share_price");
    let invoker = Invoker::new(view)?;
    for round in 1..=3 {
        println!("call {round}");
        let call = ToolCall::new("share_price", r#"{"share": "ACME"}"#);
        let result = invoker.invoke(&call).await;
        println!("-> {} {:?}", result.outcome, result.notes);
    }
    Ok(())
}
