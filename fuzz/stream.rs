//! Bytes in, nothing out: every promise the reading of an answer makes, asserted.
//!
//! Shared by the fuzz target and by the test that replays its corpus. The first byte says who answers and how it was asked,
//! the second where the rest, which is the body, is cut: `20` is Anthropic, streamed, byte by byte.

#![allow(clippy::expect_used, reason = "a broken promise must stop the run")]

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use tokio::runtime::{Builder, Runtime};
use toolwright_chat::{Message, Model, ModelError, ModelEvent, ModelRequest};
use toolwright_core::{Content, RegisteredTool, Registry, Secret, Tool};
use toolwright_models::{Bytes, Timeouts, Transport, Vendor, WireRequest, WireResponse};

/// One vendor for each protocol; the digits from 5 on ask for an answer in one piece.
const VENDORS: [&str; 5] = ["openai", "openai-chat", "anthropic", "gemini", "ollama"];

/// What an answer may come to, in letters: so many for each byte of the body, and so many for each event.
const FOR_EACH_BYTE: usize = 32;
const FOR_EACH_EVENT: usize = 256;

thread_local! {
    static SPEAKERS: Speakers = Speakers::new();
}

/// Reads one body at once and in pieces, asserting what must always hold.
pub(crate) fn exercise(bytes: &[u8]) {
    let [speaker, cut, body @ ..] = bytes else {
        return;
    };
    SPEAKERS.with(|speakers| {
        let at_once = speakers.read(*speaker, [Bytes::copy_from_slice(body)]);
        let in_pieces = speakers.read(*speaker, pieces(body, *cut));
        let size: usize = at_once.iter().map(String::len).sum();
        let most = FOR_EACH_BYTE * body.len() + FOR_EACH_EVENT * at_once.len() + 4096;
        assert!(size <= most, "more is told than anybody sent");
        assert!(at_once.len() <= body.len() + 8, "more events than anybody sent");
        let in_pieces: Vec<String> = in_pieces.iter().map(|told| same(told)).collect();
        let at_once: Vec<String> = at_once.iter().map(|told| same(told)).collect();
        assert_eq!(in_pieces, at_once, "where it is cut matters");
    });
}

/// Cuts a body: byte by byte for the digit 0, else into pieces of random length, some of them empty.
fn pieces(body: &[u8], cut: u8) -> Vec<Bytes> {
    let longest = u64::from(cut.wrapping_sub(b'0'));
    let mut state = longest;
    let mut rest = body;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = match longest {
            0 => 1,
            longest => (state >> 33) % (2 * longest + 1),
        };
        let length = usize::try_from(length).unwrap_or(1).min(rest.len());
        let (piece, tail) = rest.split_at(length);
        pieces.push(Bytes::copy_from_slice(piece));
        rest = tail;
    }
    pieces
}

/// Models whose vendors say what they are told to.
struct Speakers {
    runtime: Runtime,
    line: Line,
    models: Vec<Arc<dyn Model>>,
}

impl Speakers {
    fn new() -> Self {
        let line = Line::default();
        let mut timeouts = Timeouts::default();
        // Who asks again waits first.
        timeouts.retries = 0;
        let model = |vendor: &str, streaming| {
            let connect = Vendor::by_name(vendor).expect("a vendor").model("m");
            let connect = connect.api_key(Secret::new("a key")).timeouts(timeouts);
            let connect = connect.streaming(streaming).transport(line.clone());
            connect.build().expect("a model")
        };
        let models = [true, false]
            .into_iter()
            .flat_map(|streaming| VENDORS.map(|vendor| model(vendor, streaming)));
        Self {
            models: models.collect(),
            // Time limits are part of what is exercised; nothing ever waits for them.
            runtime: Builder::new_current_thread().enable_time().build().expect("a runtime"),
            line,
        }
    }

    fn read(&self, speaker: u8, pieces: impl IntoIterator<Item = Bytes>) -> Vec<String> {
        *self.line.0.lock().expect("the line") = pieces.into_iter().collect();
        let speaker = usize::from(speaker.wrapping_sub(b'0')) % self.models.len();
        let model = self.models.get(speaker).expect("a speaker");
        self.runtime.block_on(tell(model.as_ref()))
    }
}

/// All that a model tells of an answer, with its calls and its end where they belong.
async fn tell(model: &dyn Model) -> Vec<String> {
    let mut answer = model.stream(question()).skip(1);
    let mut told = Vec::new();
    let mut calls = 0;
    let mut over = false;
    while let Some(event) = answer.next().await {
        assert!(!over, "something comes after the end: {event:?}");
        match &event {
            Ok(ModelEvent::CallBegins { index, .. }) => {
                assert_eq!(*index, calls, "calls are counted as they begin");
                calls += 1;
            }
            Ok(ModelEvent::CallDelta { index, .. }) => {
                assert!(*index < calls, "arguments of a call that never began");
            }
            Ok(ModelEvent::Finished { .. }) | Err(_) => over = true,
            Ok(_) => {}
        }
        told.push(match event {
            Ok(event) => format!("{event:?}"),
            Err(error) => format!("{:?}: {}", error.kind, error.message),
        });
    }
    assert!(over, "an answer ends");
    told
}

/// A text without the numbers of ids that were made up, which count on from answer to answer.
fn same(told: &str) -> String {
    const MADE_UP: &str = "call_";
    let mut parts = told.split(MADE_UP);
    let mut same = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        same.push_str(MADE_UP);
        same.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }
    same
}

fn question() -> ModelRequest {
    static TOOLS: LazyLock<Arc<[RegisteredTool]>> = LazyLock::new(|| {
        let registry = Registry::new();
        let weather = Tool::builder("weather", "Tells the weather.")
            .param::<String>("city", "Where.")
            .param::<Option<u8>>("days", "How many days ahead.")
            .run(|_, _| "sunny")
            .expect("a tool");
        registry.add(weather).expect("a registry");
        registry.snapshot().iter().cloned().collect()
    });
    let mut request = ModelRequest::default();
    request.messages = vec![Message::User(vec![Content::text("How is it there?")])];
    request.tools = Arc::clone(&TOOLS);
    request
}

/// Answers with the pieces that lie ready.
#[derive(Clone, Default)]
struct Line(Arc<Mutex<VecDeque<Bytes>>>);

impl Transport for Line {
    fn send(&self, _: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        let pieces = std::mem::take(&mut *self.0.lock().expect("the line"));
        let body = stream::iter(pieces.into_iter().map(Ok));
        async { Ok(WireResponse::streamed(200, body)) }.boxed()
    }
}
