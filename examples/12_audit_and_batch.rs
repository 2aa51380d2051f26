//! Several calls at once: read-only tools run concurrently, and the results are in the order of the calls.
//!
//! ```console
//! $ cargo run -q --example 12_audit_and_batch
//! a: open
//! b: 21 °C
//! c: 22 °C
//! d: there are valves 0 to 9
//! e: 21 °C
//! a Ada open_valve 5fee5883 ok
//! b Ada read_sensor 55c0e150 ok
//! c Ada read_sensor 8e64f33b ok
//! d Ada open_valve ea40723d failed
//! e Ada read_sensor 55c0e150 ok
//! ```

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Barrier;
use toolwright::{AuditRecord, CallScope, Caller, Invoker, Registry, State, ToolCall, tool};

/// Reads a sensor.
#[tool(read_only)]
async fn read_sensor(number: u32, State(barrier): State<Barrier>) -> String {
    // Waits for all three readers: run one after the other, they would wait for ever.
    barrier.wait().await;
    format!("{} °C", 20 + number)
}

/// Opens a valve: one at a time, in the order of the calls.
#[tool(idempotent)]
fn open_valve(number: u32) -> Result<&'static str, &'static str> {
    let exists = number < 10;
    exists.then_some("open").ok_or("there are valves 0 to 9")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of([read_sensor::tool(), open_valve::tool()])?;
    // One record per call: caller, tool and outcome, but only a digest of the arguments.
    let records = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&records);
    let audit = move |record: AuditRecord| {
        let mut records = sink.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = record.arguments.get(..8).unwrap_or_default();
        let caller = record.caller.unwrap_or_default();
        records
            .push(format!("{} {caller} {} {digest} {}", record.call, record.tool, record.outcome));
    };
    let invoker = Invoker::builder(&registry).state(Barrier::new(3)).audit(audit);
    let invoker = invoker.build()?;

    let calls = [
        ToolCall::new("open_valve", r#"{"number": 7}"#).with_id("a"),
        ToolCall::new("read_sensor", r#"{"number": 1}"#).with_id("b"),
        ToolCall::new("read_sensor", r#"{"number": 2}"#).with_id("c"),
        ToolCall::new("open_valve", r#"{"number": 70}"#).with_id("d"),
        ToolCall::new("read_sensor", r#"{"number": 1}"#).with_id("e"),
    ];
    let ada = CallScope::new().caller(Caller::new("Ada"));
    for result in invoker.invoke_all_in(&ada, &calls).await {
        println!("{}: {}", result.call_id, result.text());
    }
    let mut records = records.lock().map_err(|_| "a record panicked")?;
    records.sort();
    println!("{}", records.join("\n"));
    Ok(())
}
