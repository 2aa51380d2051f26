//! Tokens that other software signed (PyJWT, on OpenSSL), once each way; the last by a key that is too short.

use serde_json::{Value, json};

use super::*;
use crate::http::verify::jwks::signed_token::SignedToken;

fn vectors() -> Vec<(Value, String)> {
    let all: Vec<Value> = serde_json::from_str(include_str!("vectors.json")).unwrap();
    let pair = |entry: &Value| (entry["key"].clone(), entry["token"].as_str().unwrap().to_owned());
    all.iter().map(pair).collect()
}

fn set(keys: &[Value]) -> Result<KeySet, String> {
    KeySet::parse(json!({ "keys": keys }).to_string().as_bytes())
}

fn is_valid(keys: &KeySet, text: &str) -> bool {
    let token = SignedToken::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let key = keys.find(token.kid(), token.algorithm);
    key.is_some_and(|key| key.verifies(token.algorithm, token.signing_input, &token.signature))
}

#[test]
fn signatures_of_every_kind_are_checked() {
    let all = vectors();
    let keys: Vec<Value> = all.iter().map(|(key, _)| key.clone()).collect();
    let keys = set(&keys).unwrap();
    for (key, token) in &all {
        assert_eq!(is_valid(&keys, token), key["kid"] != "short", "{key}");
        let (head, signature) = token.rsplit_once('.').unwrap();
        let last = if signature.starts_with('A') { "B" } else { "A" };
        let touched = format!("{head}.{last}{}", &signature[1..]);
        assert!(!is_valid(&keys, &touched), "{key}");
    }
}

#[test]
fn a_key_is_used_for_what_it_was_published_for_and_nothing_else() {
    let (key, token) = vectors().remove(0);
    let with = |name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        set(&[key]).is_ok_and(|keys| is_valid(&keys, &token))
    };
    assert!(with("use", json!("sig")));
    assert!(with("alg", json!("RS256")));
    assert!(with("key_ops", json!(["verify"])));
    assert!(!with("use", json!("enc")));
    assert!(!with("alg", json!("PS256")));
    assert!(!with("key_ops", json!(["encrypt"])));
    assert!(!with("kid", json!("another")));
    assert!(!with("kty", json!("oct")));
}

#[test]
fn without_an_id_the_only_key_that_fits_is_taken() {
    let all = vectors();
    let keys: Vec<Value> = all.iter().map(|(key, _)| key.clone()).collect();
    let keys = set(&keys).unwrap();
    let fits = |name: &str| keys.find(None, SignatureAlgorithm::from_name(name).unwrap()).is_some();
    assert!(fits("ES256") && fits("ES384") && fits("EdDSA"));
    assert!(!fits("RS256"), "there are three of RSA");
}

#[test]
fn secrets_and_no_signature_at_all_are_no_way_of_signing() {
    for name in ["none", "None", "HS256", "HS512", "", "rs256"] {
        assert!(SignatureAlgorithm::from_name(name).is_none(), "{name}");
    }
}

#[test]
fn what_is_no_key_set_is_said_so() {
    for document in [
        "",
        "{}",
        r#"{"keys": {}}"#,
        r#"{"keys": []}"#,
        r#"{"keys": [{"kty": "oct", "k": "AAAA"}]}"#,
    ] {
        assert!(KeySet::parse(document.as_bytes()).is_err(), "{document}");
    }
}
