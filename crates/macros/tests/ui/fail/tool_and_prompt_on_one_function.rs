use toolwright::{prompt, tool, tools};

/// Tells how to summarise.
#[tool]
#[prompt]
fn summarize(topic: String) -> String {
    topic
}

/// Is a prompt alone.
#[prompt]
fn answer() -> &'static str {
    "Answer well."
}

#[derive(Default)]
struct Desk;

#[tools]
impl Desk {
    /// Opens the desk.
    #[prompt]
    #[tool(read_only)]
    fn open(&self) -> String {
        String::new()
    }
}

fn main() {
    let _ = (summarize::tool(), answer::prompt());
}
