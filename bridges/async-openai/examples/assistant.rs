//! An assistant on async-openai: its client asks the model, Toolwright's loop runs the tools.

use std::error::Error;

use assistant_tools as _;
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use sample::{RefundApprover, SAMPLE_MESSAGES};
use toolwright::chat::Chat;
use toolwright::{Invoker, Registry};
use toolwright_async_openai::model;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // A model that needs no key; yours is `Client::new()`, or one for Azure, behind a proxy, with retries.
    let address = sample::start_demo_model().await?;
    let config = OpenAIConfig::new().with_api_base(address);
    let client = Client::with_config(config.with_api_key("none"));

    // What sends a request is yours; `openai:` in place of `openai-chat:` asks in the words of Responses.
    let model = model("openai-chat:demo", move |request| {
        let client = client.clone();
        async move { client.chat().create_stream(request).await }
    })?;
    let invoker = Invoker::new(Registry::discover()?)?;
    let chat = Chat::builder(&invoker, model).approver(RefundApprover).build();

    for question in SAMPLE_MESSAGES {
        println!("{question}");
        let ask = chat.message().conversation("assistant").user(question);
        println!("  {}", ask.call().await?.text());
    }
    Ok(())
}
