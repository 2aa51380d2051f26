use toolwright::{Content, prompt, tools};

/// Tells how many words to write.
#[prompt]
fn words() -> u32 {
    100
}

/// Tells nothing.
#[prompt]
async fn nothing(topic: String) {
    drop(topic);
}

struct Desk;

#[tools(manual)]
impl Desk {
    /// Tells it with pictures.
    #[prompt]
    fn picture(&self) -> Result<Vec<Content>, String> {
        Ok(vec![Content::text("a cat")])
    }
}

fn main() {}
