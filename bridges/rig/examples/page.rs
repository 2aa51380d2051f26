//! A rig agent behind Toolwright's server: the page we ship, front ends of the AI SDK and AG-UI, all talk to it.

use std::error::Error;
use std::net::Ipv4Addr;

use assistant_tools as _;
use rig::providers::openai::OpenAIConfig;
use rig::tool::ToolContext;
use rig::{Agent, AgentBuilder};
use tokio::net::TcpListener;
use toolwright::demo::DemoModel;
use toolwright::server::{Endpoint, IncomingMessage, Server, ServerBuilder, Session};
use toolwright::{Invoker, Registry};
use toolwright_rig::{CallerName, EndOnFatal, SessionName, events, history, tools};

async fn answer(
    agent: Agent,
    message: IncomingMessage,
    session: Session,
) -> Result<(), Box<dyn Error>> {
    let mut context = ToolContext::new();
    context.insert(SessionName(session.conversation_id().to_owned()))?;
    if let Some(name) = session.caller().name() {
        context.insert(CallerName(name.to_owned()))?;
    }
    let run = agent.prompt(message.text()).tool_context(context);
    // The history is in our journal, so the agent needs no memory of its own.
    let run = run.history(history(&session.history().await?));
    session.forward(events(run.stream())).await;
    Ok(())
}

async fn site() -> Result<Server, Box<dyn Error>> {
    let invoker = Invoker::new(&Registry::discover()?)?;
    let model = OpenAIConfig::new("no key").with_base_url(sample::start_demo_model().await?);
    let agent = AgentBuilder::new(model.client().chat("demo"))
        .dynamic_tools(tools(&invoker)?)
        .add_hook(EndOnFatal)
        .default_max_turns(5)
        .build();
    let endpoint =
        Endpoint::assistant().on_message(move |message: IncomingMessage, session: Session| {
            answer(agent.clone(), message, session)
        });
    let server = ServerBuilder::new(invoker, DemoModel::new()).model_reason("a rig agent answers");
    Ok(server.endpoint(endpoint).mount_all().build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip_while(|arg| arg != "--port").skip(1);
    let port = args.next().map_or(Ok(0), |port| port.parse())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("http://{}/", listener.local_addr()?);
    Ok(site().await?.serve(listener, std::future::pending()).await?)
}
