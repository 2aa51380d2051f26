//! A server's question in, a person's answer out.

use futures::future::BoxFuture;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};
use toolwright_core::schema::{Schema, Tape};

use crate::import::sanitize;

/// More of a question is not shown.
const MAX_MESSAGE_BYTES: usize = 8 << 10;

/// Somebody who answers what a server asks in the middle of a call: a person at a terminal, a page, a policy.
///
/// Without one, every question is declined.
///
/// # Cancellation
///
/// The future is dropped when nobody waits for the call any more.
///
/// # Examples
///
/// ```
/// use futures::future::BoxFuture;
/// use toolwright_mcp::{Answer, ElicitHandler, Question, Wanted};
///
/// /// Takes whatever the form suggests, and opens no pages.
/// struct Obliging;
///
/// impl ElicitHandler for Obliging {
///     fn elicit<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Answer> {
///         Box::pin(async move {
///             match question.wanted {
///                 Wanted::Form(_) => Answer::Accept(serde_json::json!({})),
///                 _ => Answer::Decline,
///             }
///         })
///     }
/// }
/// ```
pub trait ElicitHandler: Send + Sync {
    /// Answers one question; a server's questions come one at a time.
    fn elicit<'a>(&'a self, question: ElicitRequest<'a>) -> BoxFuture<'a, ElicitAnswer>;
}

/// What a server asks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ElicitRequest<'a> {
    /// The server that asks: show it, so that nobody takes the question for ours.
    pub server: &'a str,
    /// Why it asks, in its own words.
    pub message: &'a str,
    /// What it wants.
    pub input: ElicitInput<'a>,
}

/// What a server wants of a person.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ElicitInput<'a> {
    /// A form to be filled in: the schema of an object of texts, numbers, flags and choices.
    Form(&'a Value),
    /// A page to be visited; the person must see the whole address before it is opened.
    Url(&'a str),
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitAnswer {
    /// Yes, with what was filled in; what the form suggests is added where it was left out.
    Accept(Value),
    /// No.
    Decline,
    /// Neither yes nor no: the question was put aside.
    Cancel,
}

/// Puts a server's question to whoever answers, and sends back only what the question allows.
pub(super) async fn answer_elicitation(
    elicit: Option<&dyn ElicitHandler>,
    server: &str,
    asked: ElicitRequestParams,
) -> ElicitResult {
    let Some(elicit) = elicit else {
        return ElicitResult::new(ElicitationAction::Decline);
    };
    let answer = match asked {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema).unwrap_or_default();
            let question = ElicitRequest {
                server,
                message: &sanitize(&message, MAX_MESSAGE_BYTES),
                input: ElicitInput::Form(&schema),
            };
            complete_form(elicit.elicit(question).await, schema)
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } if is_web_url(&url) => {
            let question = ElicitRequest {
                server,
                message: &sanitize(&message, MAX_MESSAGE_BYTES),
                input: ElicitInput::Url(&url),
            };
            elicit.elicit(question).await
        }
        _ => ElicitAnswer::Decline,
    };
    match answer {
        // A visit is not answered with content.
        ElicitAnswer::Accept(Value::Null) => ElicitResult::new(ElicitationAction::Accept),
        ElicitAnswer::Accept(content) => {
            ElicitResult::new(ElicitationAction::Accept).with_content(content)
        }
        ElicitAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
        ElicitAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
    }
}

/// A page of the web, or of this machine: no file, no script, no other program's address.
fn is_web_url(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| match url.scheme() {
        "https" => true,
        "http" => crate::client::setup::validated_server::is_loopback(&url),
        _ => false,
    })
}

/// Adds what the form suggests; an answer that the form does not allow is none.
fn complete_form(answer: ElicitAnswer, schema: Value) -> ElicitAnswer {
    let ElicitAnswer::Accept(content) = answer else {
        return answer;
    };
    let mut filled = match content {
        Value::Object(filled) => filled,
        _ => Map::new(),
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let (None, Some(default)) = (filled.get(name), property.get("default")) {
            filled.insert(name.clone(), default.clone());
        }
    }
    let filled = Value::Object(filled);
    match Schema::check(schema) {
        Ok(schema) if !schema.is_valid(Tape::from_value(&filled).root_lenient()) => {
            tracing::warn!("an answer that its form does not allow is not sent");
            ElicitAnswer::Cancel
        }
        _ => ElicitAnswer::Accept(filled),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Says(ElicitAnswer);

    impl ElicitHandler for Says {
        fn elicit<'a>(&'a self, _: ElicitRequest<'a>) -> BoxFuture<'a, ElicitAnswer> {
            Box::pin(async { self.0.clone() })
        }
    }

    async fn asked(answer: Option<ElicitAnswer>, question: Value) -> Value {
        let elicit = answer.map(Says);
        let elicit = elicit.as_ref().map(|says| says as &dyn ElicitHandler);
        let question = serde_json::from_value(question).unwrap();
        serde_json::to_value(answer_elicitation(elicit, "shop", question).await).unwrap()
    }

    fn form() -> Value {
        json!({"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string"}, "age": {"type": "integer", "default": 30}}, "required": ["name"]}})
    }

    #[tokio::test]
    async fn without_anybody_to_ask_every_question_is_declined() {
        assert_eq!(asked(None, form()).await, json!({"action": "decline"}));
    }

    #[tokio::test]
    async fn what_the_form_suggests_is_added() {
        let answer = ElicitAnswer::Accept(json!({"name": "Ada"}));
        let sent = asked(Some(answer), form()).await;
        assert_eq!(
            sent,
            json!({"action": "accept", "content": {"name": "Ada", "age": 30}})
        );
    }

    #[tokio::test]
    async fn an_answer_that_the_form_does_not_allow_is_not_sent() {
        let answer = ElicitAnswer::Accept(json!({"age": "old"}));
        assert_eq!(
            asked(Some(answer), form()).await,
            json!({"action": "cancel"})
        );
    }

    #[tokio::test]
    async fn only_pages_are_visited() {
        for (url, action) in [
            ("https://shop.example/pay", "accept"),
            ("http://127.0.0.1:8080/pay", "accept"),
            ("http://shop.example/pay", "decline"),
            ("file:///etc/passwd", "decline"),
            ("javascript:alert(1)", "decline"),
        ] {
            let question =
                json!({"mode": "url", "message": "Pay.", "url": url, "elicitationId": "1"});
            let sent = asked(Some(ElicitAnswer::Accept(Value::Null)), question).await;
            assert_eq!(sent, json!({"action": action}), "{url}");
        }
    }
}
