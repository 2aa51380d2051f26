//! reqwest, and of the body nothing but its JSON: what no library can go below.

use toolwright_bench::{
    Comparison,
    stream::baseline::{ROW_NAME, parse_stream},
};

use super::{QUESTION, client};

/// Adds the row.
pub fn add_row<'a>(race: Comparison<'a>, base: &str) -> Comparison<'a> {
    let client = client();
    let url = format!("{base}/chat/completions");
    race.add_async_function(&format!("reqwest, {ROW_NAME}"), async move || {
        let request = client.post(&url).body(QUESTION);
        let body = request.send().await.unwrap().bytes().await.unwrap();
        parse_stream("openai-chat", &body).to_text()
    })
}
