//! A result or an error in, the JSON of a response out.

use std::io::Write as _;

use serde_json::Value;

use crate::server::{Challenge, RpcError};

/// A response, and the status it has over HTTP.
#[derive(Debug)]
pub(crate) struct RpcResponse {
    pub(crate) body: Vec<u8>,
    pub(crate) status: u16,
    /// The `WWW-Authenticate` header over HTTP.
    pub(crate) challenge: Option<Challenge>,
    /// The `Retry-After` header over HTTP, in seconds.
    pub(crate) retry_after: Option<u64>,
}

impl RpcResponse {
    /// The response with a result, which `write` appends as JSON.
    pub(crate) fn result(id: &str, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut body = Vec::with_capacity(512);
        body.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        body.extend_from_slice(id.as_bytes());
        body.extend_from_slice(br#","result":"#);
        write(&mut body);
        body.push(b'}');
        Self { body, status: 200, challenge: None, retry_after: None }
    }

    /// The response with an error.
    pub(crate) fn error(id: &str, error: &RpcError) -> Self {
        let mut body = Vec::with_capacity(160);
        body.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        body.extend_from_slice(id.as_bytes());
        // Writing to a `Vec` cannot fail.
        let _ = write!(body, r#","error":{{"code":{},"message":"#, error.code);
        write_json(&mut body, &error.message);
        if let Some(data) = &error.data {
            body.extend_from_slice(br#","data":"#);
            write_json(&mut body, data);
        }
        body.extend_from_slice(b"}}");
        Self {
            body,
            status: error.status,
            challenge: error.challenge.clone(),
            retry_after: error.retry_after,
        }
    }
}

/// Appends a value as JSON, or `null` if it cannot be serialized.
pub(crate) fn write_json(body: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    let start = body.len();
    if serde_json::to_writer(&mut *body, value).is_err() {
        body.truncate(start);
        body.extend_from_slice(b"null");
    }
}

/// Sets a field of a JSON object.
pub(crate) fn set_field(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Value::Object(fields) = object {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Returns the JSON of a notification.
pub(crate) fn notification_json(method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#, Value::from(method))
}
