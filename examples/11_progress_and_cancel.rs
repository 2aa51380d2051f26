//! Slow tools say how far they are, hand out preliminary results, and are given up in time.
//!
//! ```console
//! $ cargo run -q --example 11_progress_and_cancel
//! ```

use std::error::Error;
use std::time::Duration;

use futures::stream::{self, Stream};
use toolwright::{
    CallEvent, Cancel, CancellationToken, Invoker, Progress, Registry, Scope, ToolCall, Updates,
    tool,
};

/// Copies files.
#[tool]
async fn copy_files(count: u32, progress: Progress) -> String {
    for done in 0..count {
        progress.report(done.into(), count.into(), format!("file {}", done + 1));
        tokio::task::yield_now().await;
    }
    format!("{count} files copied")
}

/// Counts votes; each count so far is shown, the last one is the result.
#[tool(read_only)]
fn count_votes() -> Updates<impl Stream<Item = String> + use<>> {
    Updates(stream::iter([10, 25, 40].map(|votes| format!("{votes} votes"))))
}

/// Waits for a parcel that never comes.
#[tool(read_only, timeout = "50ms")]
async fn await_parcel(cancel: Cancel) -> String {
    // Dropped when given up; what is handed to another task or thread has to ask.
    let told = tokio::spawn(async move {
        cancel.cancelled().await;
        println!("  told to stop");
    });
    std::future::pending::<()>().await;
    format!("{told:?}")
}

fn listen(event: CallEvent) {
    match event {
        CallEvent::Progress { done, total, message, .. } => {
            let (done, total) = (done.unwrap_or_default(), total.unwrap_or_default());
            println!("  {done}/{total} {}", message.unwrap_or_default());
        }
        CallEvent::Update { result, .. } => println!("  so far: {}", result.text()),
        _ => {}
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(vec![copy_files::tool(), count_votes::tool(), await_parcel::tool()])?;
    let invoker = Invoker::new(&registry)?;
    let token = CancellationToken::new();
    let scope = Scope::new().on_event(listen).cancel_on(token.clone());

    for (name, arguments) in [("copy_files", r#"{"count": 2}"#), ("count_votes", ""), ("await_parcel", "")] {
        println!("{name}");
        let result = invoker.invoke_in(&scope, &ToolCall::new(name, arguments)).await;
        println!("-> {}: {}", result.outcome, result.text());
    }
    token.cancel();
    let result = invoker.invoke_in(&scope, &ToolCall::new("count_votes", "")).await;
    println!("after the person left\n-> {}", result.outcome);
    Ok(())
}
