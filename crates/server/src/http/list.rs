//! The conversations of the principal that asks.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use toolwright_chat::Owner;

use super::{Context, json as answer};
use crate::guest::Guest;
use crate::problem::Problem;

/// The most conversations that a list has.
const MOST: usize = 1000;

pub(super) async fn list(
    State(context): State<Context>,
    Extension(guest): Extension<Guest>,
) -> Result<Response, Problem> {
    let summaries = context.main.store.list_by_owner(&guest.owner(), MOST).await?;
    let running = |id: &str| context.lives.iter().any(|live| live.is_running(id));
    let all: Vec<Value> = summaries
        .iter()
        .map(|summary| {
            json!({
                "id": Owner::split_stored_name(&summary.conversation).1,
                "title": summary.title,
                "began": summary.began,
                "updated": summary.last,
                "entries": summary.entries,
                "running": running(&summary.conversation),
            })
        })
        .collect();
    answer(StatusCode::OK, &all)
}
