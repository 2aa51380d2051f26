//! A prompt: a named text with parameters, which a person picks and the model then reads.
//!
//! ```console
//! $ cargo run -q --example 05_prompts
//! summarize_instructions (Assistant): topic required, max_words = 100
//! Summarize what is said about bees in 100 words. Begin with the main point.
//! Summarize what is said about ${secret} in 20 words. Begin with the main point.
//! invalid arguments for `summarize_instructions`:
//! /topic: missing; expected a string (What the summary is about.)
//! ```

use std::error::Error;

use toolwright::{Invoker, Registry, prompt};

/// Tells the model how to summarise.
#[prompt]
fn summarize_instructions(
    /// What the summary is about.
    topic: String,
    /// How long it may be, in words.
    #[param(default = 100)]
    max_words: u32,
) -> &'static str {
    // Parameters are filled in, so the function need not look at them.
    "Summarize what is said about ${topic} in ${max_words} words. Begin with the main point."
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of(summarize_instructions::prompt())?;
    let invoker = Invoker::new(&registry)?;

    for prompt in invoker.snapshot()?.prompts() {
        let params = prompt.params();
        let shown: Vec<String> = params
            .iter()
            .map(|param| match &param.default {
                Some(default) => format!("{} = {default}", param.name),
                None => format!("{} required", param.name),
            })
            .collect();
        println!("{} ({:?}): {}", prompt.name(), prompt.role(), shown.join(", "));
    }

    // The second shows that text from outside is never itself expanded.
    for arguments in [r#"{"topic": "bees"}"#, r#"{"topic": "${secret}", "max_words": 20}"#, "{}"] {
        match invoker.render_prompt("summarize_instructions", arguments).await {
            Ok(rendered) => println!("{}", rendered.text),
            Err(refused) => println!("{}", refused.text()),
        }
    }
    Ok(())
}
