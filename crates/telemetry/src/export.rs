//! A batch of spans in, one HTTP request out; what did not arrive is counted.

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

use crate::error::Error;
use crate::settings::Settings;

/// OpenTelemetry's exporter, watched.
#[derive(Debug)]
pub(crate) struct Exporter {
    inner: SpanExporter,
    tally: Arc<Tally>,
}

impl Exporter {
    pub(crate) fn new(endpoint: &str, settings: &Settings) -> Result<Self, Error> {
        let url = Url::parse(endpoint).map_err(|_| Error::Endpoint)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::Endpoint);
        }
        let inner = SpanExporter::builder()
            .with_http()
            .with_http_client(client(&url, settings)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .with_headers(settings.headers.clone())
            .with_timeout(settings.timeout)
            .build()
            .map_err(Error::setup)?;
        Ok(Self {
            inner,
            tally: Arc::default(),
        })
    }

    pub(crate) fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }
}

impl Export for Exporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        batch.iter_mut().for_each(mark);
        let sent = self.inner.export(batch).await;
        if let Err(error) = &sent {
            self.tally.lose(spans, error);
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// What did not arrive.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Option<(usize, String)>>);

impl Tally {
    fn lose(&self, spans: usize, error: &OTelSdkError) {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = lost.as_ref().map_or(0, |(spans, _)| *spans);
        let reason = match error {
            OTelSdkError::InternalFailure(reason) => reason.clone(),
            other => other.to_string(),
        };
        *lost = Some((before + spans, reason));
    }

    /// An error if anything was lost.
    pub(crate) fn verdict(&self) -> Result<(), Error> {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lost.take() {
            None => Ok(()),
            Some((spans, reason)) => Err(Error::Lost {
                spans,
                source: reason.into(),
            }),
        }
    }
}

/// A span with `error.type` has failed: OpenTelemetry wants that in its status too, where alarms look.
fn mark(span: &mut SpanData) {
    let mut attributes = span.attributes.iter();
    if let Some(kind) = attributes.find(|it| it.key.as_str() == "error.type")
        && span.status == Status::Unset
    {
        span.status = Status::error(kind.value.to_string());
    }
}

fn client(url: &Url, settings: &Settings) -> Result<Client, Error> {
    // Another part of the program may have chosen already: any of them will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .connect_timeout(settings.timeout)
        .timeout(settings.timeout)
        // Headers carry keys, which are for this collector only.
        .redirect(redirect::Policy::none());
    if is_here(url) {
        client = client.no_proxy();
    }
    // A blocking client refuses to be made on a thread of an async runtime, where we may well be.
    let client = thread::Builder::new()
        .spawn(move || client.build())
        .map_err(Error::setup)?
        .join()
        .map_err(|_| Error::setup("the HTTP client panicked"))?;
    client.map_err(Error::setup)
}

/// A collector on this machine is not reached through a proxy.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse();
    host == "localhost" || address.is_ok_and(|it: IpAddr| it.is_loopback())
}
