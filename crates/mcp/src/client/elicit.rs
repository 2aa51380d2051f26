//! Answers the elicitations of a server.

use futures::future::BoxFuture;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};
use toolwright_core::schema::{Schema, Tape};

use crate::client::setup::validated_server::is_loopback;
use crate::elicit_response::ElicitResponse;
use crate::import::sanitize;

/// Longer messages are truncated.
const MAX_MESSAGE_BYTES: usize = 8 << 10;

/// Answers the elicitations of a server during a call: by a user at a terminal, a page, a policy.
///
/// Without a handler, every elicitation is declined.
///
/// # Cancellation
///
/// The future is dropped when the call is cancelled.
///
/// # Examples
///
/// ```
/// use toolwright::BoxFuture;
/// use toolwright::mcp::{ElicitHandler, ElicitInput, ElicitRequest, ElicitResponse};
///
/// /// Accepts the defaults of forms, and opens no pages.
/// struct AcceptDefaults;
///
/// impl ElicitHandler for AcceptDefaults {
///     fn elicit<'a>(&'a self, request: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse> {
///         Box::pin(async move {
///             match request.input {
///                 ElicitInput::Form(_) => ElicitResponse::Accept(toolwright::json!({})),
///                 _ => ElicitResponse::Decline,
///             }
///         })
///     }
/// }
/// ```
pub trait ElicitHandler: Send + Sync {
    /// Answers one elicitation; those of one server come one at a time.
    fn elicit<'a>(&'a self, request: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse>;
}

/// An elicitation of a server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ElicitRequest<'a> {
    /// The name of the server: show it, so that the user does not take the request for the program's own.
    pub server: &'a str,
    /// The server's message to the user.
    pub message: &'a str,
    /// The requested input.
    pub input: ElicitInput<'a>,
}

/// The input that a server requests from the user.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ElicitInput<'a> {
    /// A form: the schema of a flat object of strings, numbers, booleans and enums.
    Form(&'a Value),
    /// A page to visit; the user must see the whole address before it is opened.
    Url(&'a str),
}

/// Calls the handler, and returns only content that the form allows.
pub(super) async fn answer_elicitation(
    handler: Option<&dyn ElicitHandler>,
    server: &str,
    params: ElicitRequestParams,
) -> ElicitResult {
    let Some(handler) = handler else {
        return ElicitResult::new(ElicitationAction::Decline);
    };
    let (response, schema) = match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(requested_schema).unwrap_or_default();
            let message = &sanitize(&message, MAX_MESSAGE_BYTES);
            let request = ElicitRequest { server, message, input: ElicitInput::Form(&schema) };
            let response = handler.elicit(request).await;
            (response, Some(schema))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } if is_web_url(&url) => {
            let message = &sanitize(&message, MAX_MESSAGE_BYTES);
            let request = ElicitRequest { server, message, input: ElicitInput::Url(&url) };
            (handler.elicit(request).await, None)
        }
        _ => (ElicitResponse::Decline, None),
    };
    elicit_result(response, schema)
}

/// Makes the result of an elicitation; `schema` is that of its form.
pub(crate) fn elicit_result(response: ElicitResponse, schema: Option<Value>) -> ElicitResult {
    let response = match schema {
        Some(schema) => complete_form(response, schema),
        None => response,
    };
    match response {
        // The response to a URL has no content.
        ElicitResponse::Accept(Value::Null) => ElicitResult::new(ElicitationAction::Accept),
        ElicitResponse::Accept(content) => {
            ElicitResult::new(ElicitationAction::Accept).with_content(content)
        }
        ElicitResponse::Decline => ElicitResult::new(ElicitationAction::Decline),
        ElicitResponse::Cancel => ElicitResult::new(ElicitationAction::Cancel),
    }
}

/// Returns true for `https`, and for `http` on this machine: no files, scripts or schemes of other programs.
pub(crate) fn is_web_url(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| match url.scheme() {
        "https" => true,
        "http" => is_loopback(&url),
        _ => false,
    })
}

/// Adds the defaults of the form; content that the form does not allow is cancelled.
fn complete_form(response: ElicitResponse, schema: Value) -> ElicitResponse {
    let ElicitResponse::Accept(content) = response else {
        return response;
    };
    let mut content = match content {
        Value::Object(content) => content,
        _ => Map::new(),
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let (None, Some(default)) = (content.get(name), property.get("default")) {
            content.insert(name.clone(), default.clone());
        }
    }
    let content = Value::Object(content);
    match Schema::check(schema) {
        Ok(schema) if !schema.is_valid(Tape::from_value(&content).root_lenient()) => {
            tracing::warn!("an answer that its form does not allow is not sent");
            ElicitResponse::Cancel
        }
        _ => ElicitResponse::Accept(content),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct FixedResponse(ElicitResponse);

    impl ElicitHandler for FixedResponse {
        fn elicit<'a>(&'a self, _: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse> {
            Box::pin(async { self.0.clone() })
        }
    }

    async fn response_to(answer: Option<ElicitResponse>, request: Value) -> Value {
        let handler = answer.map(FixedResponse);
        let handler = handler.as_ref().map(|handler| handler as &dyn ElicitHandler);
        let request = serde_json::from_value(request).unwrap();
        serde_json::to_value(answer_elicitation(handler, "shop", request).await).unwrap()
    }

    fn form() -> Value {
        json!({"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string"}, "age": {"type": "integer", "default": 30}}, "required": ["name"]}})
    }

    #[tokio::test]
    async fn without_a_handler_every_elicitation_is_declined() {
        assert_eq!(response_to(None, form()).await, json!({"action": "decline"}));
    }

    #[tokio::test]
    async fn the_defaults_of_the_form_are_added() {
        let answer = ElicitResponse::Accept(json!({"name": "Ada"}));
        let sent = response_to(Some(answer), form()).await;
        assert_eq!(sent, json!({"action": "accept", "content": {"name": "Ada", "age": 30}}));
    }

    #[tokio::test]
    async fn content_that_the_form_does_not_allow_is_not_sent() {
        let answer = ElicitResponse::Accept(json!({"age": "old"}));
        assert_eq!(response_to(Some(answer), form()).await, json!({"action": "cancel"}));
    }

    #[tokio::test]
    async fn only_web_pages_are_visited() {
        for (url, action) in [
            ("https://shop.example/pay", "accept"),
            ("http://127.0.0.1:8080/pay", "accept"),
            ("http://shop.example/pay", "decline"),
            ("file:///etc/passwd", "decline"),
            ("javascript:alert(1)", "decline"),
        ] {
            let request =
                json!({"mode": "url", "message": "Pay.", "url": url, "elicitationId": "1"});
            let sent = response_to(Some(ElicitResponse::Accept(Value::Null)), request).await;
            assert_eq!(sent, json!({"action": action}), "{url}");
        }
    }
}
