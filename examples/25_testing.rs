//! Tests of a tool and of a conversation, without a key and without a network: `cargo test --example 25_testing`.
//!
//! ```console
//! $ cargo run -q --example 25_testing
//! 212
//! ```

use toolwright::tool;

/// Converts degrees Celsius to Fahrenheit.
#[tool(read_only)]
fn to_fahrenheit(celsius: f64) -> f64 {
    celsius * 9.0 / 5.0 + 32.0
}

fn main() {
    println!("{}", to_fahrenheit(100.0));
}

#[cfg(test)]
mod tests {
    use toolwright::chat::Chat;
    use toolwright::testing::ScriptedModel;
    use toolwright::{Invoker, Registry, json};

    use super::to_fahrenheit;

    #[tokio::test]
    async fn a_call_has_its_arguments_checked() {
        let registry = Registry::of(to_fahrenheit::tool()).unwrap();
        assert_eq!(registry.call("to_fahrenheit", json!({"celsius": 100})).await.text(), "212.0");
        let result = registry.call("to_fahrenheit", json!({"celsius": "hot"})).await;
        assert!(result.is_error());
    }

    #[tokio::test]
    async fn a_model_calls_the_tool_and_answers() {
        let registry = Registry::of(to_fahrenheit::tool()).unwrap();
        let model = ScriptedModel::new()
            .calls("to_fahrenheit", r#"{"celsius": 100}"#)
            .replies("Water boils at 212 °F.");
        let chat = Chat::new(&Invoker::new(&registry).unwrap(), model);
        let response = chat.message().user("When does water boil?").call().await.unwrap();
        assert_eq!(response.results()[0].text(), "212.0");
        assert_eq!(response.text(), "Water boils at 212 °F.");
    }
}
