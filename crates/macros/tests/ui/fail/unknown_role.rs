use toolwright::prompt;

/// Tells how to summarise.
#[prompt(role = system)]
fn summarize(topic: String) -> String {
    topic
}

/// Tells how to translate.
#[prompt(role = "user")]
fn translate(topic: String) -> String {
    topic
}

fn main() {}
