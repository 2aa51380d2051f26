//! A recorded answer of a vendor, from its bytes to the events of the model.

use std::hint::black_box;
use std::sync::Arc;

use futures::StreamExt as _;
use toolwright::chat::ModelRequest;
use toolwright_bench::stream::recorded::recorded_frames;

use crate::recorded_transport::{model_over_recording, pack_frames};
use crate::{Work, repeat_async};

pub(crate) fn openai() -> Work {
    decode("openai")
}

pub(crate) fn openai_chat() -> Work {
    decode("openai-chat")
}

pub(crate) fn anthropic() -> Work {
    decode("anthropic")
}

pub(crate) fn gemini() -> Work {
    decode("gemini")
}

pub(crate) fn ollama() -> Work {
    decode("ollama")
}

fn decode(vendor: &'static str) -> Work {
    let frames = recorded_frames(vendor, true);
    let model = model_over_recording(vendor, vec![pack_frames(&frames)]);
    repeat_async(move || {
        let model = Arc::clone(&model);
        async move {
            let mut events = model.stream(ModelRequest::default());
            while let Some(event) = events.next().await {
                black_box(event.unwrap());
            }
        }
    })
}
