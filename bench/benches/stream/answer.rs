//! One answer, from its bytes to the model's events.

use std::{hint::black_box, sync::Arc};

use futures::StreamExt as _;
use tokio::runtime::Runtime;
use toolwright::{
    chat::{ItemKind, Model, ModelEvent, ModelRequest},
    models::Bytes,
};
use toolwright_bench::{
    Race, Table,
    stream::{Said, floor, record::record},
};

use crate::line::{model, packed};

/// Races the ways to read an answer; the times are those of one event.
pub(crate) fn events(vendor: &str, runtime: &Runtime) -> Table {
    let frames = record(vendor, true);
    let bytes = frames.concat().into_bytes();
    let one_by_one = frames.iter().cloned().map(Bytes::from).collect();
    let packed = model(vendor, vec![packed(&frames)]);
    let one_by_one = model(vendor, vec![one_by_one]);
    let events = runtime.block_on(count(&packed));
    let title = format!(
        "{vendor}: {} frames, {} kB; per event, of which there are {events}",
        frames.len(),
        bytes.len() / 1000
    );
    let race = Race::new(title, runtime)
        .call(floor::NAME, || {
            floor::read(vendor, black_box(&bytes)).told()
        })
        .future("to events, 4 kB at a time", async || said(&packed).await)
        .future("to events, a frame at a time", async || {
            said(&one_by_one).await
        });
    race.run().per(events)
}

async fn count(model: &Arc<dyn Model>) -> usize {
    model.stream(ModelRequest::default()).skip(1).count().await
}

/// Reads an answer, its text by the deltas and its call by the item.
async fn said(model: &Arc<dyn Model>) -> String {
    let mut said = Said::default();
    let mut events = model.stream(ModelRequest::default());
    while let Some(event) = events.next().await {
        match event.unwrap() {
            ModelEvent::Text(text) => said.text.push_str(&text),
            ModelEvent::Item(item) => {
                if let ItemKind::Call { call } = item.kind {
                    said.tool.push_str(call.name.as_str());
                    said.arguments.push_str(call.arguments.as_str());
                }
            }
            _ => {}
        }
    }
    said.told()
}
