//! Layers wrap a call in a fixed order, independent of the order in which they are added.
//!
//! ```console
//! $ cargo run -q --example 07_layers
//!   Outer in: arguments unread
//!   Inner in: arguments read
//!   Inner out: busy
//!   Inner in: arguments read
//!   Inner out: 42 EUR
//!   Outer out: 42 EUR
//! -> ok ["tried 2 times"]
//!   Outer in: arguments unread
//!   Outer out: 42 EUR
//! -> ok ["from the cache"]
//! -> denied []
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use toolwright::{Cache, Invocation, Layer, LayerPosition, Next, RateLimit, Retry, ToolResult};
use toolwright::{Invoker, Registry, ToolCall, tool};

static BUSY: AtomicBool = AtomicBool::new(true);

/// Returns a share's price; the first run fails, as exchanges do.
#[tool(read_only)]
fn share_price() -> Result<&'static str, &'static str> {
    let busy = BUSY.swap(false, Ordering::Relaxed);
    if busy { Err("busy") } else { Ok("42 EUR") }
}

/// A custom layer, which prints the calls and results that pass through it.
struct Watch(LayerPosition);

impl Layer for Watch {
    fn position(&self) -> LayerPosition {
        self.0
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let arguments = call.arguments().map_or("unread", |_| "read");
            println!("  {:?} in: arguments {arguments}", self.0);
            let result = next.run().await;
            println!("  {:?} out: {}", self.0, result.text());
            result
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of(share_price::tool())?;
    let limit = RateLimit::new(2, Duration::from_secs(3600));
    let view = registry.all();
    // From the outside in: rate limit, outer, (arguments, approval), cache, retry, inner.
    let view = view
        .layer(Watch(LayerPosition::Inner))
        .layer(Retry::new(2).backoff(Duration::from_millis(1)))
        .layer(Cache::new(Duration::from_secs(60)))
        .layer(Watch(LayerPosition::Outer))
        .layer_where(limit, |tool| tool.name == "share_price");
    let invoker = Invoker::new(view)?;
    for _ in 0..3 {
        let result = invoker.invoke(&ToolCall::new("share_price", "{}")).await;
        println!("-> {} {:?}", result.outcome, result.notes);
    }
    Ok(())
}
