//! Front ends that speak AG-UI: `POST /agui`, a run for what somebody said or decided in a thread.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use serde_json::Value;
use toolwright_chat::{PendingApproval, ApprovalResponse, StoreError, ApprovalVerdict};
use toolwright_core::{CallId, Role};
use toolwright_schema::redact;

use self::input::{Input, Resume};
use super::turn::{self, Told};
use super::{Context, body, brought, chat, sse};
use crate::endpoint::{Live, random};
use crate::guest::{Guest, is_brought};
use crate::job::{Job, Message, Task};
use crate::problem::Problem;
use crate::reader::Reader;
use crate::room::Room;
use crate::template::ID;
use crate::ui::ag_ui::thread::{interrupt_id, messages};
use crate::ui::ag_ui::{AgUi, error};

mod input;

pub(super) async fn run(
    State(context): State<Context>,
    Extension(guest): Extension<Guest>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let live = &context.main;
    let input: Input = body::read(&live.app.limits, &headers, body).await?;
    match begin(live, guest, &input).await {
        Ok(response) => Ok(response),
        Err(Refused::Run { code, message }) => Ok(all(&[error(code, &message)])),
        Err(Refused::Request(problem)) => Err(problem),
    }
}

/// Why there is no run.
enum Refused {
    /// As the protocol wants to hear it.
    Run { code: &'static str, message: String },
    /// It is not even a request for one, or the server cannot take it.
    Request(Problem),
}

fn refused<T>(code: &'static str, message: impl Into<String>) -> Result<T, Refused> {
    let message = message.into();
    Err(Refused::Run { code, message })
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Request(problem)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Request(error.into())
    }
}

async fn begin(live: &Arc<Live>, guest: Guest, input: &Input) -> Result<Response, Refused> {
    let params = vec![(ID.to_owned(), input.thread_id.clone())];
    let room = live.room(params, &guest.owner())?;
    room.wake(&guest).await?;
    room.settle().await;
    let waiting = room.log().pending().to_vec();
    let Some(task) = task(live, &room, input, &waiting).await? else {
        return Ok(shown(live, guest, room, input).await?);
    };
    let tools = match brought::read(&input.tools, live) {
        Ok(tools) => tools,
        Err((at, why)) => return refused("tools", format!("tools[{at}]: {why}")),
    };
    let translator = translator(input)?.knowing(answered(&task));
    let peer = chat::peer()?;
    let caller = guest.clone().bringing(tools);
    let mut job = Job::new(task, caller, Some(Arc::clone(&peer)));
    let taken = job.wait();
    room.accept(job).await?;
    let after = match taken.await {
        Ok(Ok(after)) => after,
        Ok(Err(why)) => return refused("refused", redact(&why.to_string())),
        Err(_) => return refused("refused", "the conversation went on without it"),
    };
    let reader = Reader::new(room, Some(after), Some(peer));
    Ok(turn::stream(
        Told::new(reader, translator),
        guest,
        live.heartbeat,
        [],
    ))
}

fn translator(input: &Input) -> Result<AgUi, StoreError> {
    let name = format!("message-{}", random()?);
    Ok(AgUi::new(
        input.thread_id.clone(),
        input.run_id.clone(),
        name,
    ))
}

/// What a run is to do; nothing where nobody said or decided anything.
async fn task(
    live: &Live,
    room: &Room,
    input: &Input,
    waiting: &[PendingApproval],
) -> Result<Option<Task>, Refused> {
    let (brought, asked): (Vec<&PendingApproval>, Vec<&PendingApproval>) =
        waiting.iter().partition(|it| is_brought(it));
    let mut decisions = Vec::new();
    for asked in brought {
        if let Some(content) = input.result_of(&asked.call.id)? {
            decisions.push(asked.respond(ApprovalVerdict::Answer { content }));
        }
    }
    if !input.resume.is_empty() {
        decisions.extend(decided(&input.resume, &asked)?);
        return Ok(Some(Task::Decide(decisions)));
    }
    let mut parts = input.said_since()?;
    let goes_on = !parts.is_empty() || !decisions.is_empty();
    if goes_on && !asked.is_empty() {
        let message = "calls of this thread wait for a decision: send `resume` for each of them";
        return refused("interrupted", message);
    }
    if parts.is_empty() {
        return Ok((!decisions.is_empty()).then_some(Task::Decide(decisions)));
    }
    // A thread that began elsewhere, or that was forgotten here: the client's memory is all there is.
    if live.store.tail(&room.id, None, 1).await?.is_empty() {
        parts = input.all()?;
    }
    if let Some((_, content)) = parts.iter_mut().rfind(|(role, _)| *role == Role::User) {
        content.splice(0..0, input.told());
    }
    let model = input.model();
    let model = model.map(|name| live.app.models.find(name)).transpose()?;
    let mut message = Message::silence();
    (message.parts, message.model) = (parts, model);
    Ok(Some(Task::Prompt(message)))
}

/// What was decided about every call that waits.
fn decided(resume: &[Resume], waiting: &[&PendingApproval]) -> Result<Vec<ApprovalResponse>, Refused> {
    let known = |entry: &&Resume| {
        waiting
            .iter()
            .any(|it| interrupt_id(it) == entry.interrupt_id)
    };
    if let Some(stranger) = resume.iter().find(|entry| !known(entry)) {
        let id = &stranger.interrupt_id;
        let message =
            format!("`{id}` does not wait for a decision: it is unknown, or decided already");
        return refused("unknown_interrupt", message);
    }
    let decide = |asked: &&PendingApproval| {
        let id = interrupt_id(asked);
        let mut entries = resume.iter().filter(|entry| entry.interrupt_id == id);
        match (entries.next(), entries.next()) {
            (Some(entry), None) => match entry.verdict() {
                Ok(verdict) => Ok(asked.respond(verdict)),
                Err(why) => refused("invalid_payload", format!("`{id}`: {why}")),
            },
            (Some(_), Some(_)) => refused("invalid_payload", format!("`{id}` is decided twice")),
            (None, _) => refused(
                "uncovered_interrupt",
                format!("`resume` has to decide about `{id}`, too"),
            ),
        }
    };
    waiting.iter().map(decide).collect()
}

/// The calls whose results the client brings.
fn answered(task: &Task) -> Vec<CallId> {
    let Task::Decide(decided) = task else {
        return Vec::new();
    };
    let answered = decided
        .iter()
        .filter(|it| matches!(it.verdict, ApprovalVerdict::Answer { .. }));
    answered.map(|decided| decided.call.clone()).collect()
}

/// The thread as it stands, and the turn that runs in it, if one does.
async fn shown(
    live: &Live,
    guest: Guest,
    room: Arc<Room>,
    input: &Input,
) -> Result<Response, StoreError> {
    let snapshot = room.snapshot().await?;
    let mut translator = translator(input)?;
    // Of a thread that is not known here, the client knows more.
    if snapshot.running || !snapshot.entries.is_empty() {
        translator = translator.showing(messages(&snapshot.entries), snapshot.pending);
    }
    match snapshot.running {
        true => {
            let reader = Reader::new(room, Some(snapshot.seq), None);
            Ok(turn::stream(
                Told::new(reader, translator),
                guest,
                live.heartbeat,
                [],
            ))
        }
        false => Ok(all(&translator.at_rest())),
    }
}

/// A stream that is over when it begins.
fn all(events: &[Value]) -> Response {
    let frames = events
        .iter()
        .map(|event| Bytes::from(format!("data: {event}\n\n")));
    sse::response(stream::iter(frames.collect::<Vec<_>>()), [])
}
