//! Sends batches of spans to a collector over OTLP, as HTTP requests, and counts those that are lost.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use opentelemetry::trace::Status;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter as Export};
use reqwest::blocking::Client;
use reqwest::{Url, redirect};

use crate::telemetry::error::TelemetryError;
use crate::telemetry::settings::TelemetrySettings;

/// Wraps OpenTelemetry's exporter to count lost spans.
#[derive(Debug)]
pub(crate) struct Exporter {
    inner: SpanExporter,
    pub(crate) lost_spans: Arc<LostSpans>,
}

impl Exporter {
    pub(crate) fn new(
        endpoint: &str,
        settings: &TelemetrySettings,
    ) -> Result<Self, TelemetryError> {
        let url = Url::parse(endpoint).map_err(|_| TelemetryError::Endpoint)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(TelemetryError::Endpoint);
        }
        let inner = SpanExporter::builder()
            .with_http()
            .with_http_client(client(&url, settings)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .with_headers(settings.headers.clone())
            .with_timeout(settings.request_timeout)
            .build()
            .map_err(TelemetryError::setup)?;
        Ok(Self { inner, lost_spans: Arc::default() })
    }
}

impl Export for Exporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        batch.iter_mut().for_each(set_error_status);
        let sent = self.inner.export(batch).await;
        if let Err(error) = &sent {
            self.lost_spans.record(spans, error);
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// The number of lost spans, and the last error.
#[derive(Debug, Default)]
pub(crate) struct LostSpans(Mutex<Option<(usize, String)>>);

impl LostSpans {
    fn record(&self, spans: usize, error: &OTelSdkError) {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = lost.as_ref().map_or(0, |(spans, _)| *spans);
        let reason = match error {
            OTelSdkError::InternalFailure(reason) => reason.clone(),
            other => other.to_string(),
        };
        *lost = Some((before + spans, reason));
    }

    /// Returns an error if any spans were lost, and resets the count.
    pub(crate) fn take_result(&self) -> Result<(), TelemetryError> {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lost.take() {
            None => Ok(()),
            Some((spans, reason)) => Err(TelemetryError::Lost { spans, source: reason.into() }),
        }
    }
}

/// Sets the status of a span with an `error.type` to error, as OpenTelemetry requires; alerts use the status.
fn set_error_status(span: &mut SpanData) {
    let mut attributes = span.attributes.iter();
    if let Some(kind) = attributes.find(|it| it.key.as_str() == "error.type")
        && span.status == Status::Unset
    {
        span.status = Status::error(kind.value.to_string());
    }
}

fn client(url: &Url, settings: &TelemetrySettings) -> Result<Client, TelemetryError> {
    // Fails if the program has installed a provider already; any provider is suitable.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .connect_timeout(settings.request_timeout)
        .timeout(settings.request_timeout)
        // The headers contain keys, which must not be sent to another host.
        .redirect(redirect::Policy::none());
    if is_local(url) {
        client = client.no_proxy();
    }
    // A blocking client cannot be built on a thread of an async runtime, and this may be one.
    let client = thread::Builder::new()
        .spawn(move || client.build())
        .map_err(TelemetryError::setup)?
        .join()
        .map_err(|_| TelemetryError::setup("the HTTP client panicked"))?;
    client.map_err(TelemetryError::setup)
}

/// Returns true if the collector is on this machine, so that no proxy is used.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse();
    host == "localhost" || address.is_ok_and(|it: IpAddr| it.is_loopback())
}
