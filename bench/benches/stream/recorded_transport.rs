//! A transport without a network, which repeats the same responses.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::{FutureExt as _, future::BoxFuture, stream};
use toolwright::{
    Secret,
    chat::{Model, ModelError},
    models::{Bytes, Transport, Vendor, WireRequest, WireResponse},
};

/// Returns the responses in turn; the first follows the last.
pub(crate) struct RecordedTransport {
    answers: Vec<Vec<Bytes>>,
    asked: AtomicUsize,
}

/// A vendor's model with recorded responses, and their chunks.
pub(crate) fn model_over_recording(vendor: &str, answers: Vec<Vec<Bytes>>) -> Arc<dyn Model> {
    let line = RecordedTransport { answers, asked: AtomicUsize::new(0) };
    let connect = Vendor::by_name(vendor).unwrap().model("m");
    let connect = connect.api_key(Secret::new("a key")).transport(line);
    connect.build().unwrap()
}

/// The chunks of a response on a fast network.
pub(crate) fn pack_frames(frames: &[String]) -> Vec<Bytes> {
    const PIECE: usize = 4096;
    let bytes = frames.concat().into_bytes();
    bytes.chunks(PIECE).map(Bytes::copy_from_slice).collect()
}

impl Transport for RecordedTransport {
    fn send(&self, _: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let pieces = self.answers.get(asked % self.answers.len());
        let pieces = pieces.unwrap().clone();
        async { Ok(WireResponse::streamed(200, stream::iter(pieces.into_iter().map(Ok)))) }.boxed()
    }
}
