//! What the server is, and who answers.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use toolwright_schema::Dialect;

use super::{Context, json as answer};
use crate::guest::Guest;
use crate::problem::Problem;

pub(super) async fn show(
    State(context): State<Context>,
    Extension(guest): Extension<Guest>,
) -> Result<Response, Problem> {
    let about = &context.app.about;
    let dialects: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let endpoints: Vec<&str> = context
        .lives
        .iter()
        .map(|live| live.template.path.as_str())
        .collect();
    // They name tools, also to clients that may not see them.
    let warnings = match guest.is_limited() {
        true => Vec::new(),
        false => (context.app.warnings)(),
    };
    let info = json!({
        "name": about.name,
        "version": about.version,
        "model": { "vendor": about.model.vendor, "name": about.model.name, "why": about.why },
        "models": context.app.models.names,
        "store": about.store,
        "dialects": dialects,
        "endpoints": endpoints,
        "warnings": warnings,
    });
    answer(StatusCode::OK, &info)
}
