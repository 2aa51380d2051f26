//! Request bodies for every vendor, checked against the request types of the official SDKs.

use std::fs;
use std::sync::Arc;

use futures::StreamExt as _;
use test_support::real;
use toolwright::Secret;
use toolwright::chat::{Model, ModelEvent};
use toolwright::models::{ModelBuilder, VENDORS, Vendor};
use toolwright::testing::CannedTransport;

mod history;
mod recorded_steps;
mod scenarios;
mod tools;

/// The models of vendors whose requests depend on the model; all others get an arbitrary name.
const MODELS: &[(&str, &[&str])] = &[
    ("openai", &["gpt-5", "gpt-5.4", "gpt-4o"]),
    ("openai-chat", &["gpt-5", "gpt-4o"]),
    (
        "anthropic",
        &["claude-3-haiku-20240307", "claude-sonnet-4-5", "claude-opus-4-6", "claude-sonnet-5"],
    ),
    ("gemini", &["gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-pro-preview"]),
];

fn models(vendor: &str) -> &'static [&'static str] {
    let row = MODELS.iter().find(|(name, _)| *name == vendor);
    row.map_or(&["some-model"], |(_, models)| models)
}

fn model_over(transport: &CannedTransport, vendor: &str, name: &str) -> Arc<dyn Model> {
    model_builder(transport, vendor, name).build().unwrap()
}

fn model_builder(transport: &CannedTransport, vendor: &str, name: &str) -> ModelBuilder {
    let vendor = Vendor::by_name(vendor).unwrap();
    let base = vendor.base_url.unwrap_or("https://resource.example");
    let model = vendor.model(name).api_key(Secret::new("made-up")).base_url(base);
    model.transport(transport.clone())
}

#[test]
fn the_types_and_rules_refuse_what_is_wrong() {
    if real::is_installed() {
        print!("{}", real::python("typecheck_requests.py", &["--self-test"]));
    }
}

#[tokio::test]
async fn the_official_sdks_admit_the_requests_to_every_vendor() {
    if !real::is_installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let past = recorded_steps::steps().await;
    for vendor in VENDORS {
        let models = models(vendor.name).iter().map(|name| (*name, ""));
        let namespaces =
            [("gpt-5.4", "-namespaces")].into_iter().filter(|_| vendor.name == "openai");
        for (name, variant) in models.chain(namespaces) {
            let transport = CannedTransport::default();
            let model = model_builder(&transport, vendor.name, name);
            let model = model.tool_namespaces(!variant.is_empty()).build().unwrap();
            for (scenario, request) in scenarios::all(vendor.name, &*model, &past) {
                // Nothing responds; only the request matters.
                let events: Vec<_> = model.stream(request).collect().await;
                assert!(matches!(events[0], Ok(ModelEvent::RequestSent(_))), "{events:?}");
                let sent = transport.requests().pop().unwrap();
                // Beta features have types of their own.
                let beta = sent.header("anthropic-beta").map_or("", |_| "-beta");
                let folder = folder.path().join(format!("{}{beta}", vendor.name));
                let folder = folder.join(format!("{name}{variant}"));
                fs::create_dir_all(&folder).unwrap();
                let file = folder.join(format!("{scenario}.json"));
                assert!(!file.exists(), "{scenario} is there twice");
                fs::write(file, &*sent.body).unwrap();
            }
        }
    }
    let checked = real::python("typecheck_requests.py", &[folder.path().to_str().unwrap()]);
    print!("{checked}");
}
