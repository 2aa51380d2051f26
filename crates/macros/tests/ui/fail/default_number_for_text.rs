use toolwright::tool;

/// Repeats a word.
#[tool]
fn repeat(#[param(default = 5)] word: String) -> String {
    word
}

fn main() {}
