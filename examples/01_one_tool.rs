//! A function becomes a tool: registered, called, and a call refused.
//!
//! ```console
//! $ cargo run -q --example 01_one_tool
//! get_weather: Returns the weather in a city.
//! - city: string, required. The city's name, e.g. `Paris`.
//! {"city": "Paris"} -> ok: Paris: Partly cloudy, 20C / 68F, 65% humidity
//! {"ctiy": "Paris"} -> invalid_arguments: invalid arguments for `get_weather`:
//! /ctiy: unknown argument; did you mean `city`?
//! /city: missing; expected a string (The city's name, e.g. `Paris`.)
//! ```

use std::error::Error;

use toolwright::{Invoker, Registry, ToolCall, tool};

/// Returns the weather in a city.
#[tool(read_only)]
fn get_weather(
    /// The city's name, e.g. `Paris`.
    city: String,
) -> String {
    let weather = match city.as_str() {
        "London" => "Cloudy, 15C / 59F, 80% humidity",
        "Paris" => "Partly cloudy, 20C / 68F, 65% humidity",
        _ => "Clear, 22C / 72F, 50% humidity",
    };
    format!("{city}: {weather}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tool = get_weather::tool();
    println!("{}: {}", tool.name(), tool.spec().description);
    for param in tool.params() {
        let need = if param.required { "required" } else { "optional" };
        let about = param.description.unwrap_or_default();
        println!("- {}: {}, {need}. {about}", param.name, param.json_type);
    }

    let registry = Registry::of(tool)?;
    let invoker = Invoker::new(&registry)?;

    // A model sends a name and arguments as text; even if that is not JSON, the outcome is a result.
    for arguments in [r#"{"city": "Paris"}"#, r#"{"ctiy": "Paris"}"#] {
        let call = ToolCall::new("get_weather", arguments);
        let result = invoker.invoke(&call).await;
        println!("{arguments} -> {}: {}", result.outcome, result.text());
    }

    // The function stays a function, which a test can call.
    assert!(get_weather("Oslo".to_owned()).starts_with("Oslo: Clear"));
    Ok(())
}
