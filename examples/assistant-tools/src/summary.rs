//! A prompt: a template that the user selects, while tools are functions that the model calls.

use toolwright::prompt;

/// Tells the model how to summarise.
#[prompt(title = "Summarize")]
pub fn summarize_instructions(
    /// What the summary is about.
    topic: String,
    /// How long it may be, in words.
    #[param(default = 100)]
    max_words: u32,
) -> &'static str {
    "Summarize the provided content on ${topic} concisely, in ${max_words} words at most. \
     Begin with the main point and add nothing that the content does not say."
}

#[cfg(test)]
mod tests {
    use toolwright::{Invoker, Registry, Role};

    use super::*;

    async fn rendered(arguments: &str) -> String {
        let registry = Registry::new();
        registry.add(summarize_instructions::prompt()).unwrap();
        let invoker = Invoker::new(&registry).unwrap();
        let rendered = invoker.render_prompt("summarize_instructions", arguments).await;
        let rendered = rendered.unwrap();
        assert_eq!(rendered.role, Role::Assistant);
        rendered.text
    }

    #[tokio::test]
    async fn the_topic_and_the_length_are_filled_in() {
        let text = rendered(r#"{"topic": "bees", "max_words": 50}"#).await;
        assert!(text.starts_with("Summarize the provided content on bees concisely, in 50 words"));
    }

    #[tokio::test]
    async fn a_hundred_words_are_enough_unless_somebody_says_otherwise() {
        let text = rendered(r#"{"topic": "bees"}"#).await;
        assert!(text.contains("in 100 words at most."), "{text}");
    }

    #[test]
    fn the_topic_must_be_given() {
        let params = summarize_instructions::prompt().params();
        let shown: Vec<_> = params.iter().map(|it| (&*it.name, it.required)).collect();
        assert_eq!(shown, [("topic", true), ("max_words", false)]);
    }
}
