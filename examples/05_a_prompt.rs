//! A prompt: a text with parameters that a person picks, where a tool is a function that a model calls.
//!
//! ```console
//! $ cargo run -q --example 05_a_prompt
//! review (user): Asks for a review of some code.
//! - code, required
//! - language, else "Rust"
//! -> user: Review this Rust code, line by line:
//! fn main() {}
//! -> user: Review this bash code, line by line:
//! echo ${language}
//! -> there is no prompt `revue`; did you mean `review`?
//! available prompts: review
//! ```

use std::error::Error;

use serde_json::json;
use toolwright::{Invoker, Registry, prompt};

/// Asks for a review of some code.
#[prompt(role = user)]
fn review(
    /// The code to look at.
    code: String,
    /// What it is written in.
    #[param(default = "Rust")]
    language: String,
) -> &'static str {
    // Filled in once: `${…}` in the code itself stays as it is.
    "Review this ${language} code, line by line:\n${code}"
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(review::prompt())?;
    for prompt in registry.snapshot().prompts() {
        let (name, role) = (prompt.name(), prompt.role());
        println!("{name} ({role}): {}", prompt.description());
        for param in prompt.params() {
            match param.default {
                Some(default) => println!("- {}, else {default}", param.name),
                None => println!("- {}, required", param.name),
            }
        }
    }
    let invoker = Invoker::new(&registry)?;
    for (name, arguments) in [
        ("review", json!({"code": "fn main() {}"})),
        (
            "review",
            json!({"code": "echo ${language}", "language": "bash"}),
        ),
        ("revue", json!({})),
    ] {
        match invoker.render(name, arguments).await {
            Ok(rendered) => println!("-> {}: {}", rendered.role, rendered.text),
            Err(result) => println!("-> {}", result.text()),
        }
    }
    Ok(())
}
