//! Toolwright's model over its own transport: events as they come, and every item kept as the vendor wants it back.

use futures::StreamExt as _;
use toolwright::{
    Content, Secret,
    chat::{ItemKind, Message, Model as _, ModelEvent, ModelRequest},
    models::Vendor,
};
use toolwright_bench::{Comparison, stream::StreamedAnswer};

use super::QUESTION;

/// Adds the row.
pub fn add_row<'a>(race: Comparison<'a>, base: &str) -> Comparison<'a> {
    let builder = Vendor::by_name("openai-chat").unwrap().model("gpt-5");
    let builder = builder.api_key(Secret::new("a key")).base_url(base);
    let model = builder.build().unwrap();
    race.add_async_function("Toolwright", async move || {
        let mut request = ModelRequest::default();
        request.messages = vec![Message::User(vec![Content::text(QUESTION)])];
        let mut answer = StreamedAnswer::default();
        let mut events = model.stream(request);
        while let Some(event) = events.next().await {
            match event.unwrap() {
                ModelEvent::Text(text) => answer.text.push_str(&text),
                ModelEvent::Item(item) => {
                    if let ItemKind::Call { call } = item.kind {
                        answer.tool.push_str(call.name.as_str());
                        answer.arguments.push_str(call.arguments.as_str());
                    }
                }
                _ => {}
            }
        }
        answer.to_text()
    })
}
