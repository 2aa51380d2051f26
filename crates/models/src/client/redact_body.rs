//! Redacts the keys of MCP servers in a request body, so that it can be shown.

use serde_json::Value;
use toolwright_chat::{HostedTool, ModelRequest};

/// Replaces a secret.
const REDACTED: &str = "***";

/// Shorter secrets are not searched for: they are too likely to be part of another text.
const MIN_SECRET_BYTES: usize = 6;

/// Redacts secrets in a body; returns false if it cannot contain any.
pub(super) fn redact_secrets(body: &mut Value, request: &ModelRequest) -> bool {
    let secrets: Vec<&str> = request
        .hosted_tools
        .iter()
        .filter_map(|hosted| match hosted {
            HostedTool::Mcp(group) => Some(group.authorization.as_ref()?.expose()),
            _ => None,
        })
        .collect();
    // Extra fields of the request may define further servers.
    let has_extra_servers =
        ["tools", "mcp_servers"].iter().any(|name| request.options.extra.contains_key(*name));
    if secrets.is_empty() && !has_extra_servers {
        return false;
    }
    for (list, field) in
        [("tools", "authorization"), ("tools", "headers"), ("mcp_servers", "authorization_token")]
    {
        let entries = body.get_mut(list).and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten() {
            if let Some(field) = entry.get_mut(field) {
                redact_value(field);
            }
        }
    }
    for secret in secrets {
        let token = secret.split_once(' ').map_or(secret, |(_, token)| token);
        for text in [secret.trim(), token.trim()] {
            if text.len() >= MIN_SECRET_BYTES {
                replace_secret(body, text);
            }
        }
    }
    true
}

/// Redacts a secret, or an object whose values are secrets.
fn redact_value(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(redact_value),
        Value::Null => {}
        other => *other = REDACTED.into(),
    }
}

fn replace_secret(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) if text.contains(secret) => *text = text.replace(secret, REDACTED),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_secret(item, secret)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| replace_secret(field, secret))
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn servers_in_extra_fields_are_redacted_as_well() {
        let mut request = ModelRequest::default();
        let tools = json!([
            {"type": "mcp", "authorization": "hunter2", "headers": {"x-key": "hunter3"}},
            {"type": "function", "parameters": {"properties": {"authorization": {"type": "string"}}}}
        ]);
        request.options.extra.insert("tools".to_owned(), tools.clone());
        let mut body = json!({"tools": tools, "mcp_servers": [{"authorization_token": "hunter4"}]});
        assert!(redact_secrets(&mut body, &request));
        assert_eq!(
            body,
            json!({
                "tools": [
                    {"type": "mcp", "authorization": "***", "headers": {"x-key": "***"}},
                    {"type": "function", "parameters": {"properties": {"authorization": {"type": "string"}}}}
                ],
                "mcp_servers": [{"authorization_token": "***"}]
            })
        );
    }

    #[test]
    fn a_body_without_secrets_is_unchanged() {
        let mut body = json!({"tools": [{"authorization": "plain"}]});
        assert!(!redact_secrets(&mut body, &ModelRequest::default()));
        assert_eq!(body["tools"][0]["authorization"], "plain");
    }
}
