//! The suite itself, over an invoker without any framework: what is measured here is what there is to carry.

use conformance::{CONVERSATION, CallOutcome, Framework, ListedTool};
use toolwright::{
    Bridge, BridgeError, CallEvent, Content, ErrorKind, Outcome, Tool, ToolCall, ToolResult,
};

struct Direct;

impl Framework for Direct {
    const NAME: &'static str = "direct";

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let offer = bridge.export()?;
        let shown = offer.tools().iter().map(|tool| ListedTool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: tool.schema.clone(),
            hints: tool.registered_tool.spec().hints,
            output: None,
            strict: None,
        });
        Ok(shown.collect())
    }

    async fn call(bridge: &Bridge, call: ToolCall) -> Option<CallOutcome> {
        let offer = bridge.export().ok()?;
        let (sender, progress) = std::sync::mpsc::channel();
        let scope = offer.scope().on_event(move |event| {
            if let CallEvent::Progress { message: Some(message), .. } = event {
                let _ = sender.send(message);
            }
        });
        let direct = offer.tools().iter().any(|tool| {
            tool.name == call.name.as_str() && tool.registered_tool.policy().return_direct
        });
        let result = offer.invoke_in(&scope, call).await;
        let mut heard = to_call_outcome(&result);
        heard.returns_directly = direct;
        heard.progress = progress.try_iter().collect();
        Some(heard)
    }

    async fn run_conversation(bridge: &Bridge, _: &str) -> Vec<String> {
        let mut answers = Vec::new();
        if let Ok(offer) = bridge.export() {
            for question in CONVERSATION {
                let result = offer.invoke(ToolCall::new(question.tool, question.arguments)).await;
                assert!(result.text().contains(question.result), "{result:?}");
                answers.push(question.answer.to_owned());
            }
        }
        answers
    }

    fn import_tools(bridge: &Bridge) -> Option<Vec<Tool>> {
        let offer = bridge.export().ok()?;
        Some(
            offer
                .tools()
                .iter()
                .map(|tool| tool.registered_tool.tool().clone())
                .filter(|tool| tool.name() != "wait")
                .collect(),
        )
    }
}

fn to_call_outcome(result: &ToolResult) -> CallOutcome {
    let media = result.content.iter().filter_map(|item| match item {
        Content::Image { mime_type, .. } => Some(mime_type.clone()),
        _ => None,
    });
    let media: Vec<String> = media.collect();
    CallOutcome {
        text: if media.is_empty() { result.to_text() } else { result.text() }.into_owned(),
        structured: result.structured.as_ref().map(|value| value.to_value()),
        media,
        failed: Some(result.outcome != Outcome::Ok),
        retry: Some(result.error == Some(ErrorKind::Retry)),
        ends_run: result.error == Some(ErrorKind::Fatal),
        ..CallOutcome::default()
    }
}

conformance::cases!(Direct);

#[tokio::test]
async fn all_there_is_to_carry_can_be_measured() {
    let row = conformance::readme_row::<Direct>().await;
    assert_eq!(row, "yes | – | asks | yes | yes | marked, retry, end | yes | yes | ours | yes |");
}
