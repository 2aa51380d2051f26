//! reqwest, and of the body nothing but its JSON: what no library can go below.

use toolwright_bench::{
    Race,
    stream::floor::{NAME, read},
};

use super::{QUESTION, client};

/// Adds the row.
pub fn add_row<'a>(race: Race<'a>, base: &str) -> Race<'a> {
    let client = client();
    let url = format!("{base}/chat/completions");
    race.future(&format!("reqwest, {NAME}"), async move || {
        let request = client.post(&url).body(QUESTION);
        let body = request.send().await.unwrap().bytes().await.unwrap();
        read("openai-chat", &body).told()
    })
}
