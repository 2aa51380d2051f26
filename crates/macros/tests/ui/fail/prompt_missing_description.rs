use toolwright::{prompt, tools};

#[prompt]
fn summarize(topic: String) -> String {
    topic
}

#[derive(Default)]
struct Desk;

#[tools]
impl Desk {
    #[prompt(description = " ")]
    fn tidy(&self) -> &'static str {
        "Keep it tidy."
    }
}

fn main() {
    let _ = summarize::prompt();
}
