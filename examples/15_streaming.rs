//! Events of a turn as they happen: text deltas, calls, progress and results.
//!
//! ```console
//! $ cargo run -q --example 15_streaming
//! → count {"to":3}
//!   1 of 3
//!   2 of 3
//!   3 of 3
//! ← counted to 3
//! I counted to three for you.
//! 20 tokens in, 10 out
//! ```

use std::error::Error;
use std::io::Write as _;

use toolwright::chat::{Chat, ChatEvent};
use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Progress, Registry, tool};

/// Counts.
#[tool(read_only)]
async fn count(to: u32, progress: Progress) -> String {
    for n in 1..=to {
        progress.report(n.into(), to.into(), "");
        tokio::task::yield_now().await;
    }
    format!("counted to {to}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of(count::tool())?;
    let model =
        ScriptedModel::new().calls("count", r#"{"to":3}"#).replies("I counted to three for you.");
    let chat = Chat::new(&Invoker::new(&registry)?, model);

    let mut events = chat.message().user("Count to three.").stream();
    while let Some(event) = events.next().await {
        match event? {
            ChatEvent::Text { delta } => {
                print!("{delta}");
                std::io::stdout().flush()?;
            }
            ChatEvent::Call { call } => println!("→ {} {}", call.name, call.arguments),
            ChatEvent::Progress { done: Some(done), total: Some(total), .. } => {
                println!("  {done} of {total}")
            }
            ChatEvent::Result { result, .. } => println!("← {}", result.text()),
            ChatEvent::TurnEnded { usage, .. } => {
                println!("\n{} tokens in, {} out", usage.input, usage.output);
            }
            _ => {}
        }
    }
    Ok(())
}
