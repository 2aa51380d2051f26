//! Programs that speak to OpenAI: `POST /v1/chat/completions` and `GET /v1/models`.
//!
//! Nothing is remembered: what was said before comes with every request. The server's tools run inside, and a call that
//! somebody would have to approve is denied, because nobody can be asked. The caller's own tools come back as `tool_calls`.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;
use toolwright_core::CancellationToken;

use self::refusal::Refusal;
use self::request::{Request, Wanted};
use super::turn::{self, Told};
use super::{Context, body, json as answer};
use crate::endpoint::random;
use crate::event::{Event, now};
use crate::guest::Guest;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::room::Room;
use crate::ui::Translator;
use crate::ui::openai::{OpenAi, whole};

mod history;
mod perform;
mod refusal;
mod request;

pub(super) async fn complete(
    State(context): State<Context>,
    Extension(guest): Extension<Guest>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let live = &context.main;
    let request: Request = body::read(&live.app.limits, &headers, body).await?;
    let model = request.model.clone();
    let (streamed, counted) = (request.is_streamed(), request.is_counted());
    let wanted = Wanted::read(request, live)?;
    live.app.check_turns()?;
    let id = format!("chatcmpl-{}", random().map_err(Problem::from)?);
    // In no list of conversations: nobody can come back to it.
    let room = Arc::new(Room::new(
        Arc::clone(live),
        guest.owner().stored_name(&id),
        id.clone(),
        Vec::new(),
    ));
    let reader = Reader::new(Arc::clone(&room), Some(room.log().newest()), None);
    let cancel = CancellationToken::new();
    let leaving = cancel.clone().drop_guard();
    let performed = perform::perform(room, guest.clone(), wanted, cancel);
    live.app.turns.spawn(performed);
    let translator = OpenAi::new(id, now() / 1000, model, counted);
    let told = Told::new(reader, Leaving(translator, leaving));
    if streamed {
        return Ok(turn::stream(told, guest, live.heartbeat, []));
    }
    whole_answer(told).await
}

/// Ends the turn when nobody reads it any more: nobody could come back to it.
struct Leaving(
    OpenAi,
    #[expect(dead_code, reason = "it is dropped")] DropGuard,
);

impl Translator for Leaving {
    fn open(&mut self) -> Vec<Value> {
        self.0.open()
    }

    fn hear(&mut self, event: &Event) -> Vec<Value> {
        self.0.hear(event)
    }

    fn seal(&self) -> Option<&'static str> {
        self.0.seal()
    }
}

async fn whole_answer(mut told: Told<Leaving>) -> Result<Response, Refusal> {
    let mut chunks = Vec::new();
    while let Some(chunk) = told.next().await {
        chunks.push(chunk);
    }
    match whole(chunks) {
        Ok(whole) => Ok(answer(StatusCode::OK, &whole)?),
        Err(error) => Err(Refusal::told(&error)),
    }
}

/// The names that a request may give for a model.
fn names(context: &Context) -> Vec<String> {
    let known = &context.app.models.names;
    match known.is_empty() {
        true => vec![context.main.model.id().to_string()],
        false => known.clone(),
    }
}

fn shown(name: &str) -> Value {
    let vendor = name.split(':').next().unwrap_or(name);
    json!({ "id": name, "object": "model", "created": 0, "owned_by": vendor })
}

pub(super) async fn models(State(context): State<Context>) -> Result<Response, Refusal> {
    let models: Vec<Value> = names(&context).iter().map(|name| shown(name)).collect();
    Ok(answer(
        StatusCode::OK,
        &json!({ "object": "list", "data": models }),
    )?)
}

pub(super) async fn model(
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    match names(&context).contains(&name) {
        true => Ok(answer(StatusCode::OK, &shown(&name))?),
        false => Err(Refusal::no_model(&name, &names(&context))),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({ "error": {
            "message": self.message, "type": self.kind, "param": self.param, "code": self.code,
        } });
        let mut response = answer(self.status, &body).unwrap_or_else(Problem::into_response);
        if let Some(wait) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, wait.into());
        }
        response
    }
}
