//! The suite over a real server and a real client of rmcp's, in both lifecycles.

use crate::peers::{TestClient, TestServer, connect, lifecycle, request};
use conformance::{CONVERSATION, CallOutcome, Framework, ListedTool};
use rmcp::ServiceError;
use rmcp::model::{CallToolResult, ContentBlock, ElicitationAction, Tool};
use toolwright::{Bridge, BridgeError, ToolCall};

/// What is shown is what the client lists, what is heard is what the client hears.
struct Rmcp<const STATELESS: bool>;

impl<const STATELESS: bool> Framework for Rmcp<STATELESS> {
    const NAME: &'static str = "rmcp";
    const CALLER: Option<&'static str> = Some("visitor");

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let desk = TestServer::new(bridge)?;
        // A runtime of its own: this is called from within another.
        let list = std::thread::spawn(|| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_all().build().unwrap().block_on(async {
                let client = connect(desk, TestClient::default(), lifecycle(STATELESS)).await;
                client.list_all_tools().await.unwrap()
            })
        });
        let tools = list.join().unwrap();
        assert!(tools.iter().any(|tool| tool.name == "hello"));
        let ours = tools.into_iter().filter(|tool| tool.name != "hello");
        Ok(ours.map(shown).collect())
    }

    async fn call(bridge: &Bridge, call: ToolCall) -> Option<CallOutcome> {
        let request = request(call.name.as_str(), call.arguments.as_str())?;
        let mut desk = TestServer::new(bridge).unwrap();
        desk.caller = Self::CALLER;
        let visitor = TestClient::answering(ElicitationAction::Decline);
        let client = connect(desk, visitor.clone(), lifecycle(STATELESS)).await;
        let mut heard = match client.call_tool(request).await {
            Ok(result) => heard(result),
            Err(ServiceError::McpError(error)) if error.message == "tool not found" => return None,
            Err(ServiceError::McpError(error)) => CallOutcome {
                text: error.message.into_owned(),
                failed: Some(true),
                ends_run: true,
                ..CallOutcome::default()
            },
            Err(error) => panic!("{error}"),
        };
        heard.asks_person = !visitor.asked.lock().unwrap().is_empty();
        let steps = visitor.steps.lock().unwrap();
        heard.progress = steps.iter().filter_map(|(_, message)| message.clone()).collect();
        Some(heard)
    }

    async fn run_conversation(bridge: &Bridge, _: &str) -> Vec<String> {
        // There is no agent here: the client makes these calls.
        let desk = TestServer::new(bridge).unwrap();
        let client = connect(desk, TestClient::default(), lifecycle(STATELESS)).await;
        let mut answers = Vec::new();
        for question in CONVERSATION {
            let request = request(question.tool, question.arguments).unwrap();
            let heard = heard(client.call_tool(request).await.unwrap());
            assert!(heard.text.contains(question.result), "{heard:?}");
            answers.push(question.answer.to_owned());
        }
        answers
    }
}

fn shown(tool: Tool) -> ListedTool {
    let hints = serde_json::to_value(&tool.annotations).unwrap();
    ListedTool {
        name: tool.name.to_string(),
        description: tool.description.clone().unwrap_or_default().into_owned(),
        schema: tool.schema_as_json_value(),
        hints: serde_json::from_value(hints).unwrap_or_default(),
        output: tool.output_schema.map(|schema| (*schema).clone().into()),
        strict: None,
    }
}

fn heard(result: CallToolResult) -> CallOutcome {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let texts: Vec<&str> = texts.map(|text| text.text.as_str()).collect();
    let images = result.content.iter().filter_map(ContentBlock::as_image);
    CallOutcome {
        text: texts.join("\n"),
        media: images.map(|image| image.mime_type.clone()).collect(),
        structured: result.structured_content,
        failed: result.is_error,
        ..CallOutcome::default()
    }
}

conformance::suite!(Rmcp<false>);

mod stateless {
    conformance::cases!(super::Rmcp<true>);
}
