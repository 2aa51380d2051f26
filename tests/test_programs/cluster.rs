//! The program whose `serve` command is a node of the test's clusters.
//!
//! With the variable `CLUSTER_USERS`, the header `x-user` names the principal of a request; `CLUSTER_LEASE_MILLIS` and
//! `CLUSTER_SWEEP_MILLIS` set the duration of leases and the interval in which unattended turns are looked for,
//! `CLUSTER_PIECE_MILLIS` the time between two pieces of an answer, `CLUSTER_ARCHIVE_MILLIS` the time that the archive takes,
//! `CLUSTER_GRACE_MILLIS` the time that a node has to drain.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use futures::StreamExt as _;
use toolwright::auth::Identity;
use toolwright::chat::{Model, ModelErrorKind, ModelId, ModelRequest, ModelStream, Price, Prices};
use toolwright::server::{Endpoint, Metering};
use toolwright::testing::ModelReply;
use toolwright::{Progress, Registry, State, ToolError, tool};

use crate::orders::{self, Effects};

/// The words after each answer, so that it has many pieces.
const MORE_WORDS: &str =
    " These words make the answer longer, so that a node can be ended between two of its pieces.";

/// Looks an order up in a slow archive.
#[tool(read_only)]
async fn slow(
    order: String,
    progress: Progress,
    effects: State<Effects>,
) -> Result<String, ToolError> {
    for part in 1..=4 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        progress.report(f64::from(part), 4.0, "");
    }
    effects.append(&format!("slow {order}"))
}

/// Reads an order in an archive that is as slow as the test wants.
#[tool(read_only)]
async fn archive(order: String, effects: State<Effects>) -> Result<String, ToolError> {
    let begun = effects.append(&format!("archive {order}"));
    tokio::time::sleep(millis("CLUSTER_ARCHIVE_MILLIS", 0)).await;
    begun
}

/// Takes the last copy of an order: one call per hour and principal.
#[tool(read_only)]
fn take_last(order: String, effects: State<Effects>) -> Result<String, ToolError> {
    effects.append(&format!("take_last {order}"))
}

/// Streams the reply of [`reply`] in pieces, with a pause before each.
struct PacedModel {
    id: ModelId,
    /// The time between two pieces of an answer.
    interval: Duration,
}

impl Model for PacedModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let (events, interval) = (reply(&request).into_stream(), self.interval);
        if interval.is_zero() {
            return events;
        }
        let paced = events.then(move |event| async move {
            tokio::time::sleep(interval).await;
            event
        });
        paced.boxed()
    }
}

/// The reply about an order, with more words; a message `fail ORDER` is an error of the model.
fn reply(request: &ModelRequest) -> ModelReply {
    let (text, _) = orders::last_message(request);
    if text.starts_with("fail ") {
        return ModelReply::error(ModelErrorKind::BadRequest, "the model is away");
    }
    orders::reply(request, |order| {
        // `look 7.w200` is answered with 200 words more.
        let more = order.rsplit_once(".w").and_then(|(_, count)| count.parse().ok());
        format!("{MORE_WORDS}{}", " more".repeat(more.unwrap_or_default()))
    })
}

/// A duration of the environment.
fn millis(variable: &str, default: u64) -> Duration {
    let value = std::env::var(variable).ok().and_then(|value| value.parse().ok());
    Duration::from_millis(value.unwrap_or(default))
}

pub(crate) fn run() -> Result<ExitCode, Box<dyn Error>> {
    // One turn uses the budget up.
    let budget = Metering::new().budget(1.0);
    let prices = Prices::default().with("paced", Price::new(100_000.0, 100_000.0));
    let tools = (orders::tools(), [slow::tool(), archive::tool(), take_last::tool()]);
    let app = toolwright::app!()
        .registry(Registry::of(tools)?)
        .state_with(Effects::open)
        // Long enough that a turn is disturbed while it streams.
        .model(PacedModel {
            id: ModelId::new("paced", ""),
            interval: millis("CLUSTER_PIECE_MILLIS", 2),
        })
        .default_setting("tools.take_last.rate_limit", "1/h")
        .endpoint(
            Endpoint::new("/budget/{room}")
                .memory(true)
                .broadcast(true)
                .interceptor(budget)
                .open_to_all(),
        )
        .chat(move |chat| chat.prices(prices.clone()))
        .server(|server| {
            let server = server.limits(|limits| {
                limits.shutdown_grace = millis("CLUSTER_GRACE_MILLIS", 1_000);
                // Short, so that the test need not wait long for the leases of a node that was killed.
                limits.lease_duration = millis("CLUSTER_LEASE_MILLIS", 3_000);
                limits.sweep_interval = millis("CLUSTER_SWEEP_MILLIS", 1_000);
            });
            match std::env::var_os("CLUSTER_USERS") {
                None => server,
                Some(_) => server.login(async |head| {
                    let user = head.headers.get("x-user").and_then(|user| user.to_str().ok());
                    Ok(user.map(Identity::new))
                }),
            }
        });
    Ok(app.run())
}
