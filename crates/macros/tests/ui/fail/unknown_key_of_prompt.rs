use toolwright::prompt;

/// Tells how to summarise.
#[prompt(timeout = "5s", read_only, expand_result, titel = "Summarise")]
fn summarize(topic: String) -> String {
    topic
}

fn main() {}
