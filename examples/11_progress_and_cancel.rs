//! Slow tools: progress, preliminary results, timeouts and cancellation.
//!
//! ```console
//! $ cargo run -q --example 11_progress_and_cancel
//! copy_files
//!   0 done, now README.md
//!   1 done, now LICENSE
//! -> ok: Done
//! count_votes
//!   so far 10
//! -> ok: 25
//! watch_door
//! -> timed_out: timed out after 50ms; it may still be running
//! -> cancelled: the call was cancelled
//! ```

use std::error::Error;
use std::time::Duration;

use futures::future::join;
use futures::stream::{self, Stream};
use toolwright::{
    CallEvent, CallScope, Cancel, CancellationToken, Progress, ToolCall, Updates, tool,
};
use toolwright::{Invoker, Registry};

/// Copies two files.
#[tool]
fn copy_files(progress: Progress) {
    progress.report(0.0, 2.0, "README.md");
    progress.report(1.0, 2.0, "LICENSE");
}

/// Counts votes; each count is a preliminary result, the last one is the result.
#[tool(read_only)]
fn count_votes() -> Updates<impl Stream<Item = u32> + use<>> {
    Updates(stream::iter([10, 25]))
}

/// Watches a door that never opens.
#[tool(read_only, blocking, timeout = "50ms")]
fn watch_door(cancel: Cancel) {
    // An async tool is dropped; a blocking one has to check the token.
    while !cancel.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn listen(event: CallEvent) {
    match event {
        CallEvent::Progress { done, message, .. } => {
            let (done, now) = (done.unwrap_or_default(), message.unwrap_or_default());
            println!("  {done} done, now {now}");
        }
        CallEvent::Update { result, .. } => println!("  so far {}", result.text()),
        _ => {}
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(vec![copy_files::tool(), count_votes::tool()])?;
    registry.add(watch_door::tool())?;
    let invoker = Invoker::new(&registry)?;
    let scope = CallScope::new().on_event(listen);
    for name in ["copy_files", "count_votes", "watch_door"] {
        println!("{name}");
        let result = invoker.invoke_in(&scope, &ToolCall::new(name, "{}")).await;
        println!("-> {}: {}", result.outcome, result.text());
    }

    // The user leaves: a token cancels all calls in its scope.
    let token = CancellationToken::new();
    let scope = scope.cancel_on(token.clone());
    let call = ToolCall::new("watch_door", "{}");
    let (result, ()) = join(invoker.invoke_in(&scope, &call), async { token.cancel() }).await;
    println!("-> {}: {}", result.outcome, result.text());
    Ok(())
}
