//! One answer, from its bytes to the model's events.

use std::{hint::black_box, sync::Arc};

use futures::StreamExt as _;
use tokio::runtime::Runtime;
use toolwright::{
    chat::{ItemKind, Model, ModelEvent, ModelRequest},
    models::Bytes,
};
use toolwright_bench::{
    Comparison, Table,
    stream::{StreamedAnswer, baseline, recorded::recorded_frames},
};

use crate::recorded_transport::{model_over_recording, pack_frames};

/// Races the ways to read an answer; the times are those of one event.
pub(crate) fn compare_model_events(vendor: &str, runtime: &Runtime) -> Table {
    let frames = recorded_frames(vendor, true);
    let bytes = frames.concat().into_bytes();
    let one_by_one = frames.iter().cloned().map(Bytes::from).collect();
    let packed = model_over_recording(vendor, vec![pack_frames(&frames)]);
    let one_by_one = model_over_recording(vendor, vec![one_by_one]);
    let events = runtime.block_on(count_events(&packed));
    let title = format!(
        "{vendor}: {} frames, {} kB; per event, of which there are {events}",
        frames.len(),
        bytes.len() / 1000
    );
    let race = Comparison::new(title, runtime)
        .add_function(baseline::ROW_NAME, || {
            baseline::parse_stream(vendor, black_box(&bytes)).to_text()
        })
        .add_async_function("to events, 4 kB at a time", async || answer_text(&packed).await)
        .add_async_function("to events, a frame at a time", async || {
            answer_text(&one_by_one).await
        });
    race.run().divide_by(events)
}

async fn count_events(model: &Arc<dyn Model>) -> usize {
    model.stream(ModelRequest::default()).skip(1).count().await
}

/// Reads an answer, its text by the deltas and its call by the item.
async fn answer_text(model: &Arc<dyn Model>) -> String {
    let mut streamed = StreamedAnswer::default();
    let mut events = model.stream(ModelRequest::default());
    while let Some(event) = events.next().await {
        match event.unwrap() {
            ModelEvent::Text(text) => streamed.text.push_str(&text),
            ModelEvent::Item(item) => {
                if let ItemKind::Call { call } = item.kind {
                    streamed.tool.push_str(call.name.as_str());
                    streamed.arguments.push_str(call.arguments.as_str());
                }
            }
            _ => {}
        }
    }
    streamed.to_text()
}
