//! Embedders over canned responses.

use toolwright_models::{ModelBuilder, Vendor};
use toolwright_search::{EmbedError, Embedder as _};

use crate::canned_transport::{CannedResponse, CannedTransport, sent_body};

fn builder(vendor: &str, transport: &CannedTransport) -> ModelBuilder {
    let builder = Vendor::by_name(vendor).unwrap().model("small");
    builder.api_key("a key").transport(transport.clone())
}

async fn embed(
    vendor: &str,
    transport: &CannedTransport,
    texts: &[&str],
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let embedder = builder(vendor, transport).build_embedder().unwrap();
    assert_eq!(embedder.model(), format!("{vendor}:small"));
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    embedder.embed(&texts).await
}

fn canned(bodies: &[(u16, &str)]) -> CannedTransport {
    CannedTransport::new(bodies.iter().map(|(status, body)| match status {
        200 => CannedResponse::ok((*body).to_owned()),
        status => CannedResponse::error(*status, (*body).to_owned()),
    }))
}

#[tokio::test]
async fn openai_vectors_are_ordered_by_the_number_of_their_text() {
    let body = r#"{"object":"list","data":[
        {"object":"embedding","index":1,"embedding":[0.5,-1]},
        {"object":"embedding","index":0,"embedding":[1,0]}],"model":"small","usage":{"prompt_tokens":2}}"#;
    let transport = canned(&[(200, body)]);
    let vectors = embed("openai", &transport, &["one", "two"]).await.unwrap();
    assert_eq!(vectors, [[1.0, 0.0], [0.5, -1.0]]);
    assert!(transport.requests()[0].url.as_str().ends_with("/v1/embeddings"));
    assert_eq!(transport.requests()[0].header("authorization"), Some("Bearer a key"));
    let sent = serde_json::json!({"model": "small", "input": ["one", "two"]});
    assert_eq!(sent_body(&transport, 0), sent);
}

#[tokio::test]
async fn ollama_has_its_own_endpoint_and_shape() {
    let transport = canned(&[(200, r#"{"model":"small","embeddings":[[0.25,0.75]]}"#)]);
    assert_eq!(embed("ollama", &transport, &["one"]).await.unwrap(), [[0.25, 0.75]]);
    assert!(transport.requests()[0].url.as_str().ends_with("/api/embed"));
}

#[tokio::test(start_paused = true)]
async fn a_request_is_retried_after_a_transient_error() {
    let busy = (503, r#"{"error":{"message":"busy"}}"#);
    let transport = canned(&[busy, (200, r#"{"data":[{"embedding":[1]}]}"#)]);
    assert_eq!(embed("openai", &transport, &["one"]).await.unwrap(), [[1.0]]);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_answer_is_an_error() {
    for (status, body) in [
        (200, "{}"),
        (200, r#"{"data":[{"embedding":["a"]}]}"#),
        (200, r#"{"data":[]}"#),
        (200, "not json"),
        (401, r#"{"error":{"message":"no such key"}}"#),
    ] {
        let error = embed("openai", &canned(&[(status, body)]), &["one"]).await.unwrap_err();
        assert_eq!(error.to_string(), "openai:small made no embeddings", "{body}");
    }
}

#[test]
fn a_vendor_without_embeddings_is_refused() {
    let error = builder("anthropic", &canned(&[])).build_embedder().err().unwrap();
    assert!(error.to_string().contains("anthropic has no embeddings"), "{error}");
}
