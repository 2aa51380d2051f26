//! An assistant in swiftide: tools that know nothing of it, its agent loop, and a model that needs no key.

use std::error::Error;

use assistant_tools as _;
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use sample::{RefundApprover, SAMPLE_MESSAGES};
use swiftide_agents::Agent;
use swiftide_core::chat_completion::ChatMessage;
use swiftide_integrations::openai::OpenAI;
use toolwright::{Invoker, Registry};
use toolwright_swiftide::tools;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let invoker = Invoker::builder(Registry::discover()?).approver(RefundApprover).build()?;
    let model =
        OpenAIConfig::new().with_api_base(sample::start_demo_model().await?).with_api_key("none");
    let model = OpenAI::builder()
        .client(Client::with_config(model))
        .default_prompt_model("demo")
        .build()?;
    let mut agent = Agent::builder()
        .llm(&model)
        .no_system_prompt()
        .without_default_stop_tool()
        .tools(tools(&invoker)?)
        .build()?;

    for question in SAMPLE_MESSAGES {
        println!("{question}");
        agent.query(question).await?;
        if let Some(ChatMessage::Assistant(Some(answer), _)) = agent.history().await?.last() {
            println!("  {answer}");
        }
    }
    Ok(())
}
