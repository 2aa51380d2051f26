//! The sample assistant's tools in a rig agent, with a model that needs no key.

use std::error::Error;

use assistant_tools as _;
use rig::AgentBuilder;
use rig::providers::openai::OpenAIConfig;
use rig::tool::ToolContext;
use sample::{RefundApprover, SAMPLE_MESSAGES};
use toolwright::schema::Dialect;
use toolwright::{Bridge, Invoker, Registry};
use toolwright_rig::{CallerName, EndOnFatal, tools};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Defined once, in a crate that knows nothing of rig: schemas, checks, approval.
    let invoker = Invoker::builder(&Registry::discover()?).approver(RefundApprover).build()?;
    let bridge = Bridge::new(&invoker).dialect(Dialect::OPENAI);

    let model = OpenAIConfig::new("no key").with_base_url(sample::start_demo_model().await?);
    let agent = AgentBuilder::new(model.client().chat("demo"))
        .dynamic_tools(tools(&bridge)?)
        .add_hook(EndOnFatal)
        .default_max_turns(5)
        .build();

    let mut context = ToolContext::new();
    context.insert(CallerName("ada".to_owned()))?;
    for question in SAMPLE_MESSAGES {
        println!("{question}");
        let answer = agent.prompt(question).tool_context(context.clone()).await?;
        println!("  {answer}");
    }
    Ok(())
}
