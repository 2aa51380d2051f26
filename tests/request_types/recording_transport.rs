//! A transport that records requests and returns a fixed response.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use toolwright::Secret;
use toolwright::chat::{Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use toolwright::models::{Transport, Vendor, WireRequest, WireResponse};

/// Clones share the recorded requests.
#[derive(Clone, Default)]
pub(crate) struct RecordingTransport(Arc<RecordedExchange>);

#[derive(Default)]
struct RecordedExchange {
    sent: Mutex<Option<WireRequest>>,
    answer: Option<String>,
}

impl RecordingTransport {
    /// Returns this response to every request.
    pub(crate) fn answering(answer: String) -> Self {
        let sent = Mutex::default();
        let answer = Some(answer);
        Self(Arc::new(RecordedExchange { sent, answer }))
    }

    /// A model that uses this transport.
    pub(crate) fn model(&self, vendor: &str, name: &str) -> Arc<dyn Model> {
        let vendor = Vendor::by_name(vendor).unwrap();
        let base = vendor.base_url.unwrap_or("https://resource.example");
        let model = vendor.model(name).api_key(Secret::new("made-up")).base_url(base);
        model.transport(self.clone()).build().unwrap()
    }

    /// The recorded body after a request to a model.
    pub(crate) async fn capture_request(
        &self,
        model: &dyn Model,
        request: ModelRequest,
    ) -> WireRequest {
        let events: Vec<_> = model.stream(request).collect().await;
        assert!(matches!(events[0], Ok(ModelEvent::RequestSent(_))), "{events:?}");
        self.0.sent.lock().unwrap().take().unwrap()
    }
}

impl Transport for RecordingTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        *self.0.sent.lock().unwrap() = Some(request);
        async {
            match &self.0.answer {
                Some(answer) => Ok(WireResponse::new(200, answer.clone())),
                None => Err(ModelError::new(ModelErrorKind::BadRequest, "nobody is there")),
            }
        }
        .boxed()
    }
}
