//! A request of a server for a person's input, as arguments of the tool that asks the person of a turn.

#[expect(deprecated, reason = "older servers request sampling")]
use rmcp::model::CreateMessageRequestParams;
use rmcp::model::{ElicitRequestParams, ElicitResult};
use serde_json::{Map, Value, json};
use toolwright_core::schema::{Schema, coerce};
use toolwright_core::{
    ApprovalPolicy, Args, BoxFuture, DefineError, HandlerContext, Outcome, Tool, ToolResult,
};

use crate::client::elicit::{elicit_result, is_web_url};
use crate::client::setup::validated_server::ValidatedServer;
use crate::elicit_response::ElicitResponse;
use crate::import::sanitize;

/// Longer messages are truncated.
const MAX_MESSAGE_BYTES: usize = 8 << 10;

/// A request of a server for a person's input.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Form {
        message: String,
        schema: Value,
    },
    Url {
        message: String,
        url: String,
    },
    /// A message that the server wants a model to write.
    Sample {
        message: String,
    },
}

impl Question {
    /// Returns the question of an elicitation; `None` if it must be declined, because its page is not on the web.
    pub(crate) fn from_elicitation(params: ElicitRequestParams) -> Option<Self> {
        match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                Some(Self::Form { message: sanitize(&message, MAX_MESSAGE_BYTES), schema })
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } if is_web_url(&url) => {
                Some(Self::Url { message: sanitize(&message, MAX_MESSAGE_BYTES), url })
            }
            _ => None,
        }
    }

    /// Returns the question of a request for a model's message: its system prompt and its texts.
    #[expect(deprecated, reason = "older servers send it")]
    pub(crate) fn from_sampling(params: &CreateMessageRequestParams) -> Self {
        let system = params.system_prompt.iter().map(|text| format!("system: {text}"));
        let messages = params.messages.iter().map(|message| {
            let message = serde_json::to_value(message).unwrap_or_default();
            let role = message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
            format!("{role}: {}", texts_of(message.get("content").unwrap_or(&Value::Null)))
        });
        let texts: Vec<String> = system.chain(messages).collect();
        Self::Sample { message: sanitize(&texts.join("\n"), MAX_MESSAGE_BYTES) }
    }

    /// Returns the arguments of the tool that asks.
    pub(crate) fn arguments(&self) -> Value {
        match self {
            Self::Form { message, schema } => json!({ "message": message, "form": schema }),
            Self::Url { message, url } => json!({ "message": message, "url": url }),
            Self::Sample { message } => {
                json!({ "message": message, "reply": "The text that an assistant would write." })
            }
        }
    }

    /// Returns the response to an elicitation, from the result of the tool that asked.
    pub(crate) fn elicit_result(&self, result: &ToolResult) -> ElicitResult {
        let response = match result.outcome {
            Outcome::Ok => self.accepted(&result.text()),
            Outcome::Cancelled => ElicitResponse::Cancel,
            _ => ElicitResponse::Decline,
        };
        match self {
            Self::Form { schema, .. } => elicit_result(response, Some(schema.clone())),
            _ => elicit_result(response, None),
        }
    }

    fn accepted(&self, text: &str) -> ElicitResponse {
        let Self::Form { schema, .. } = self else {
            return ElicitResponse::Accept(Value::Null);
        };
        let answer = match serde_json::from_str(text) {
            Ok(Value::Null) => Value::Object(Map::new()),
            Ok(answer @ Value::Object(_)) => answer,
            answer => in_only_field(schema, answer.unwrap_or_else(|_| text.into())),
        };
        let mut answer = answer;
        if let Ok(schema) = Schema::check(schema.clone()) {
            coerce(&mut answer, &schema);
        }
        match answer {
            Value::Object(_) => ElicitResponse::Accept(answer),
            // A text for a form with several fields is no answer.
            _ => ElicitResponse::Cancel,
        }
    }

    /// Returns the message that the person has written in place of a model; the error is the reason why there is none.
    pub(crate) fn sampled_message(&self, result: &ToolResult) -> Result<Value, String> {
        let text = result.text();
        let text = match serde_json::from_str(&text) {
            Ok(Value::String(text)) => text,
            Ok(Value::Null) => String::new(),
            _ => text.into_owned(),
        };
        if result.outcome != Outcome::Ok || text.trim().is_empty() {
            return Err("the user has written no message for the server".to_owned());
        }
        let content = json!({ "type": "text", "text": text });
        Ok(
            json!({ "role": "assistant", "content": content, "model": "person", "stopReason": "endTurn" }),
        )
    }
}

/// The texts of the content of a message, which is one part or several.
fn texts_of(content: &Value) -> String {
    let text = |part: &Value| match part.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or("something");
            format!("[{kind}]")
        }
    };
    match content {
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join("\n"),
        part => text(part),
    }
}

/// An answer without the name of its field, to a form with one field.
fn in_only_field(schema: &Value, answer: Value) -> Value {
    let fields = schema.get("properties").and_then(Value::as_object);
    let mut fields = fields.into_iter().flat_map(Map::keys);
    match (fields.next(), fields.next()) {
        (Some(name), None) => Value::Object(Map::from_iter([(name.clone(), answer)])),
        _ => answer,
    }
}

/// The schema of the arguments of the tool that asks. Clients know questions by its first annotation.
fn input_schema() -> Value {
    json!({
        "type": "object",
        "x-question": true,
        "properties": {
            "message": { "type": "string", "description": "The message of the server to the user." },
            "form": { "type": "object", "description": "The JSON Schema of the answer." },
            "url": { "type": "string", "description": "The page that the user should visit." },
            "reply": { "type": "string", "description": "What the user should write." },
            "answer": { "description": "The answer of the user." },
        },
        "required": ["message"],
        "additionalProperties": false,
    })
}

/// Makes the tool that asks the person of a turn what a server wants to know; only the tools of the server call it.
pub(crate) fn question_tool(config: &ValidatedServer, name: &str) -> Result<Tool, DefineError> {
    let run = |args: Args, _: HandlerContext| -> BoxFuture<'static, ToolResult> {
        let answer = args.into_map().shift_remove("answer").unwrap_or_default();
        Box::pin(std::future::ready(ToolResult::success(answer.to_string())))
    };
    let server = &config.name;
    let description = format!("The server `{server}` asks, for a call that it runs.");
    Tool::builder(name, description)
        .title(format!("{server} asks"))
        .imported(true)
        .schema(input_schema())?
        .bundle(&**server)
        .internal(true)
        .read_only(true)
        .approval(ApprovalPolicy::Always)
        .run_async(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: Value) -> Question {
        let schema = json!({ "type": "object", "properties": properties });
        Question::Form { message: "Who?".to_owned(), schema }
    }

    fn response(question: &Question, result: &ToolResult) -> Value {
        serde_json::to_value(question.elicit_result(result)).unwrap()
    }

    #[test]
    fn the_result_of_the_tool_that_asked_is_the_response_to_the_server() {
        let name = form(json!({ "name": { "type": "string" } }));
        let age = form(json!({ "name": { "type": "string" }, "age": { "type": "integer" } }));
        let page =
            Question::Url { message: "Pay.".to_owned(), url: "https://a.example".to_owned() };
        let accept = |content: Value| json!({ "action": "accept", "content": content });
        for (question, text, expected) in [
            (&name, r#"{"name":"Ada"}"#, accept(json!({ "name": "Ada" }))),
            (&name, "Ada", accept(json!({ "name": "Ada" }))),
            (&name, "null", accept(json!({}))),
            (&age, r#"{"age":"36"}"#, accept(json!({ "age": 36 }))),
            (&age, "Ada", json!({ "action": "cancel" })),
            (&age, r#"{"age":"old"}"#, json!({ "action": "cancel" })),
            (&page, "null", json!({ "action": "accept" })),
        ] {
            assert_eq!(response(question, &ToolResult::success(text)), expected, "{text}");
        }
        let mut denied = ToolResult::failure("no");
        denied.outcome = Outcome::Denied;
        assert_eq!(response(&name, &denied), json!({ "action": "decline" }));
        denied.outcome = Outcome::Cancelled;
        assert_eq!(response(&name, &denied), json!({ "action": "cancel" }));
    }

    #[test]
    fn a_sampled_message_is_the_text_of_the_person() {
        let question = Question::Sample { message: "user: Hello?".to_owned() };
        let message = question.sampled_message(&ToolResult::success("Hello!")).unwrap();
        assert_eq!(message["content"], json!({ "type": "text", "text": "Hello!" }));
        assert!(question.sampled_message(&ToolResult::success("null")).is_err());
        assert!(question.sampled_message(&ToolResult::failure("no")).is_err());
    }
}
