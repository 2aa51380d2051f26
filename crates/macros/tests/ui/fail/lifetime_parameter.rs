use std::borrow::Cow;

use toolwright::tool;

/// Shows a text.
#[tool]
fn show<'a>(text: Cow<'a, str>) -> String {
    text.into_owned()
}

fn main() {}
