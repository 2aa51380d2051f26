use toolwright::tool;

/// Tells the weather.
#[tool]
fn weather(#[param] city: String) -> String {
    city
}

fn main() {}
