//! The sample assistant in adk-rust: its agent, its runner, its session, and tools that know nothing of any of them.

use std::sync::Arc;

use adk_agent::LlmAgentBuilder;
use adk_core::{Content, Part};
use adk_model::groq::{GroqClient, GroqConfig};
use adk_runner::Runner;
use adk_session::{CreateRequest, InMemorySessionService, SessionService};
use assistant_tools as _;
use futures::TryStreamExt;
use sample::{RefundApprover, SAMPLE_MESSAGES};
use toolwright::schema::Dialect;
use toolwright::{Bridge, Invoker, Registry};
use toolwright_adk::tools;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let invoker = Invoker::builder(Registry::discover()?).approver(RefundApprover);
    let bridge = Bridge::new(&invoker.build()?).dialect(Dialect::OPENAI);

    // Any client of adk's will do; this one speaks to whatever takes OpenAI's Chat Completions.
    let model = GroqConfig::new("no key", "demo").with_base_url(sample::start_demo_model().await?);
    let agent = LlmAgentBuilder::new("assistant").model(Arc::new(GroqClient::new(model)?));
    let tools = tools(&bridge)?.into_iter();
    let agent = tools.fold(agent, LlmAgentBuilder::tool);

    let sessions = Arc::new(InMemorySessionService::new());
    let session = CreateRequest {
        app_name: "shop".to_owned(),
        user_id: "ada".to_owned(),
        session_id: Some("1".to_owned()),
        state: Default::default(),
    };
    sessions.create(session).await?;
    let runner = Runner::builder().app_name("shop").session_service(sessions);
    let runner = runner.agent(Arc::new(agent.build()?)).build()?;

    for question in SAMPLE_MESSAGES {
        println!("{question}");
        let question = Content::new("user").with_text(question);
        let mut events = runner.run_str("ada", "1", question).await?;
        let mut answer = String::new();
        while let Some(event) = events.try_next().await? {
            for part in event.content().iter().flat_map(|it| &it.parts) {
                match part {
                    Part::FunctionCall { name, args, .. } => println!("  calls {name} {args}"),
                    // What is partial comes once more as a whole.
                    Part::Text { text } if !event.llm_response.partial => answer += text,
                    _ => {}
                }
            }
        }
        println!("  {answer}");
    }
    Ok(())
}
