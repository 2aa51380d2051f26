//! The program that is killed: a conversation about a few orders, with a line on stdout at each point where it may be killed.
//!
//! With the arguments `STORE CONVERSATION LOG ORDERS HOLD` it continues the conversation until every order is answered. HOLD is `-`,
//! or `STAGE:N`: then the program blocks at the Nth point of that stage, so that it can be killed there.

use std::error::Error;
use std::io::BufRead as _;
use std::process::ExitCode;
use std::sync::Arc;

use toolwright::chat::{ApprovalResponse, Chat, EntryBody, PendingApproval, Store as _};
use toolwright::{Invoker, Registry};

mod kill_points;
mod model;
mod observed_store;
mod tools;

use kill_points::{KillPoints, Stage};
use model::OrderModel;
use observed_store::ObservedStore;
use tools::SideEffects;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, conversation, log, orders, hold] = arguments.as_slice() else {
        return Err("STORE CONVERSATION LOG ORDERS HOLD".into());
    };
    let points = KillPoints::new(hold)?;
    points.reach(Stage::Before, "the store is opened");
    let store = toolwright::store::open(url).await?;
    points.reach(Stage::Before, "the store is open");

    let registry = Registry::new();
    registry.add(tools::all())?;
    let shop = SideEffects::new(log, points.clone());
    let invoker = Invoker::builder(&registry).state(shop).build()?;
    let watched = ObservedStore::new(Arc::clone(&store), points.clone());
    let chat = Chat::builder(&invoker, OrderModel::new(points.clone()))
        .store(watched)
        .node("the only one")
        .build();

    let orders: usize = orders.parse()?;
    loop {
        let entries = store.load(conversation).await?;
        let is_end = |what: &EntryBody| matches!(what, EntryBody::TurnEnded { .. });
        let over = entries.iter().filter(|entry| is_end(&entry.body)).count();
        let interrupted = entries.last().is_some_and(|entry| !is_end(&entry.body));
        if over == orders && !interrupted {
            println!("done");
            return Ok(ExitCode::SUCCESS);
        }
        let mut ask = match interrupted {
            true => chat.resume(conversation),
            false => {
                let order = over + 1;
                let ask = chat.message().conversation(conversation);
                ask.user(format!("Order {order}"))
            }
        };
        loop {
            let response = ask.call().await?;
            if response.pending_approvals().is_empty() {
                break;
            }
            let decided = decide(response.pending_approvals(), &points)?;
            ask = chat.submit_approvals(conversation, decided);
        }
    }
}

/// Reads its decisions from stdin.
fn decide(
    asked: &[PendingApproval],
    points: &KillPoints,
) -> Result<Vec<ApprovalResponse>, Box<dyn Error>> {
    let mut decided = Vec::new();
    for asked in asked {
        points.reach(Stage::Waiting, "approval requested");
        println!("decide");
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        points.reach(Stage::Waiting, "approval decided");
        decided.push(match answer.trim() {
            "yes" => asked.approve(),
            "no" => asked.deny("not today"),
            other => return Err(format!("`{other}` is no answer").into()),
        });
    }
    Ok(decided)
}
