//! The suite through genai: calls by hand, and conversations through the real client of each provider.

use conformance::{CONVERSATION, CallOutcome, Framework, ListedTool};
use genai::adapter::AdapterKind;
use genai::chat::ToolCall;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use toolwright::chat::Chat;
use toolwright::{Bridge, BridgeError};
use toolwright_genai::{GenaiModel, tools};

/// A client whose models are all one provider's, at an address of our own.
fn client(adapter: AdapterKind, address: String) -> Client {
    let resolve = move |_: ServiceTarget| {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(address.as_str()),
            auth: AuthData::from_single("no key"),
            model: ModelIden::new(adapter, "mock"),
        })
    };
    Client::builder().with_service_target_resolver_fn(resolve).build().unwrap()
}

struct OpenAi;

impl Framework for OpenAi {
    const NAME: &'static str = "genai";

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let shown = tools(bridge)?.definitions().into_iter().map(|tool| ListedTool {
            name: tool.name.to_string(),
            description: tool.description.unwrap_or_default(),
            schema: tool.schema.unwrap_or_default(),
            strict: tool.strict,
            ..ListedTool::default()
        });
        Ok(shown.collect())
    }

    async fn call(bridge: &Bridge, call: toolwright::ToolCall) -> Option<CallOutcome> {
        let text = call.arguments.as_str();
        // As genai's readers of streams do it.
        let arguments = serde_json::from_str(text).unwrap_or_else(|_| text.into());
        let call = ToolCall {
            call_id: call.id.as_str().to_owned(),
            fn_name: call.name.as_str().to_owned(),
            fn_arguments: arguments,
            thought_signatures: None,
        };
        let mut responses = tools(bridge).ok()?.run(&[call]).await;
        Some(CallOutcome { text: responses.pop()?.content, ..CallOutcome::default() })
    }

    async fn run_conversation(bridge: &Bridge, model: &str) -> Vec<String> {
        run_conversation(bridge, AdapterKind::OpenAI, format!("{model}/v1/")).await
    }
}

async fn run_conversation(bridge: &Bridge, adapter: AdapterKind, address: String) -> Vec<String> {
    let model = GenaiModel::new(client(adapter, address), "mock").await.unwrap();
    let offer = bridge.export().unwrap();
    let chat = Chat::new(offer.invoker(), model);
    let mut answers = Vec::new();
    for question in CONVERSATION {
        let asked = chat.message().conversation("talk").user(question.question);
        let mut response = asked.call().await.unwrap();
        let waiting = response.pending_approvals().iter();
        let denied: Vec<_> = waiting.map(|asked| asked.deny("not today")).collect();
        if !denied.is_empty() {
            response = response.submit_approvals(denied).call().await.unwrap();
        }
        answers.push(response.text());
    }
    answers
}

conformance::suite!(OpenAi);

/// The same conversation through another provider's adapter.
macro_rules! through {
    ($provider:ident, $adapter:expr, $path:literal, $case:ident) => {
        struct $provider;

        impl Framework for $provider {
            const NAME: &'static str = "genai";

            fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
                OpenAi::listed_tools(bridge)
            }

            async fn call(bridge: &Bridge, call: toolwright::ToolCall) -> Option<CallOutcome> {
                OpenAi::call(bridge, call).await
            }

            async fn run_conversation(bridge: &Bridge, model: &str) -> Vec<String> {
                run_conversation(bridge, $adapter, format!("{model}{}", $path)).await
            }
        }

        #[tokio::test]
        async fn $case() {
            conformance::the_agent_loop_answers_the_four_questions::<$provider>().await;
        }
    };
}

through!(Responses, AdapterKind::OpenAIResp, "/v1/", the_loop_works_through_responses);
through!(Anthropic, AdapterKind::Anthropic, "/v1/", the_loop_works_through_anthropic);
through!(Gemini, AdapterKind::Gemini, "/v1beta/", the_loop_works_through_gemini);
through!(Ollama, AdapterKind::Ollama, "/", the_loop_works_through_ollama);
