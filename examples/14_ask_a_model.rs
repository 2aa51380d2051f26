//! A message with tools: the model calls them, and answers from their results.
//!
//! `demo` is a rule-based model that needs no key.
//!
//! ```console
//! $ cargo run -q --example 14_ask_a_model
//! called get_weather {"city":"London"}
//! London: Cloudy, 15C / 59F, 80% humidity
//! called convert_temperature {"value":15,"from_unit":"C"}
//! 15.0C = 59.0F
//! ```

use std::error::Error;

use toolwright::chat::Chat;
use toolwright::demo::DemoModel;
use toolwright::{Invoker, Registry};

use assistant_tools as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::discover()?;
    let chat = Chat::new(&Invoker::new(&registry)?, DemoModel::new());

    for question in ["What is the weather in London?", "Convert that to Fahrenheit"] {
        let ask = chat.message().conversation("weather").user(question);
        let response = ask.call().await?;
        for call in response.steps().flat_map(|step| step.calls()) {
            println!("called {} {}", call.name, call.arguments);
        }
        println!("{}", response.text());
    }
    Ok(())
}
