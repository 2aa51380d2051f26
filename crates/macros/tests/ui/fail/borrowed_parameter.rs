use toolwright::tool;

/// Shows a text.
#[tool]
fn show(text: &str, words: &[String], title: Option<&str>) -> String {
    format!("{title:?} {text} {}", words.join(" "))
}

fn main() {}
