//! The sample assistant behind a genai client: the loop of calls is Toolwright's chat, the model genai's.

use std::error::Error;

use assistant_tools as _;
use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use sample::{RefundApprover, SAMPLE_MESSAGES};
use toolwright::chat::Chat;
use toolwright::{Invoker, Registry};
use toolwright_genai::GenaiModel;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = sample::start_demo_model().await?;
    let resolve = move |_: ServiceTarget| {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(format!("{address}/")),
            auth: AuthData::from_single("no key"),
            model: ModelIden::new(AdapterKind::OpenAI, "demo"),
        })
    };
    let client = Client::builder().with_service_target_resolver_fn(resolve).build()?;

    let invoker = Invoker::new(&Registry::discover()?)?;
    let model = GenaiModel::new(client, "demo").await?;
    let chat = Chat::builder(&invoker, model).approver(RefundApprover).build();
    for question in SAMPLE_MESSAGES {
        println!("{question}");
        let ask = chat.message().conversation("desk").user(question);
        println!("  {}", ask.call().await?.text());
    }
    Ok(())
}
