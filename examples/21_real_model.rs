//! A chat with a model of a real vendor, streamed: the key is in `OPENAI_API_KEY`.
//!
//! `BASE_URL` is `https://api.openai.com/v1`, or that of a proxy or of any server with the same API.
//!
//! ```console
//! $ cargo run -q --example 21_real_model
//! That is 5.
//! ```

use std::io::Write as _;

use toolwright::chat::Chat;
use toolwright::{models, tool};

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = models::openai("gpt-5").base_url(std::env::var("BASE_URL")?).build()?;
    let mut answer = Chat::discover(model)?.message().user("What is 2 + 3?").stream();
    while let Some(text) = answer.next_text().await? {
        print!("{text}");
        std::io::stdout().flush()?;
    }
    println!();
    Ok(())
}
