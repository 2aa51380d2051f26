//! An assistant on async-openai: its client asks the model, Toolwright's loop runs the tools.

use std::error::Error;

use assistant_tools as _;
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use toolwright::chat::Chat;
use toolwright::{ApprovalRequest, Approve, BoxFuture, Decision, Invoker, Registry, Strict};
use toolwright_async_openai::model;

/// Refunds small sums, and says so.
struct Clerk;

impl Approve for Clerk {
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        println!("approve {} {}?", request.tool.name, request.arguments);
        let decision = match request.arguments["amount"].as_f64() {
            Some(amount) if amount <= 10.0 => request.approve(),
            _ => request.deny("more than 10 euros are for the manager to decide"),
        };
        Box::pin(async { decision })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // A model that needs no key; yours is `Client::new()`, or one for Azure, behind a proxy, with retries.
    let address = sample_model::start().await?;
    let config = OpenAIConfig::new().with_api_base(address);
    let client = Client::with_config(config.with_api_key("none"));

    // What sends a request is yours; `openai:` in place of `openai-chat:` asks in the words of Responses.
    let model = model("openai-chat:demo", move |request| {
        let client = client.clone();
        async move { client.chat().create_stream(request).await }
    })?;
    // Real models are held to strict schemas; this one would ask for every field of theirs.
    let tools = Registry::discover()?.all();
    let tools = tools.adjust(|_, policy| policy.strict = Strict::Off);
    let chat = Chat::builder(model, &Invoker::new(tools)?);
    let chat = chat.approver(Clerk).build();

    for question in [
        "What is the weather in Paris?",
        "Convert 20 C to Fahrenheit",
        "Refund order A-1042, 20 euros",
    ] {
        println!("> {question}");
        let ask = chat.prompt().conversation("assistant").user(question);
        println!("{}", ask.call().await?.text());
    }
    Ok(())
}
