use toolwright::tool;

/// Tells the weather.
#[tool]
fn weather(#[param(required, default = "Paris")] city: String) -> String {
    city
}

fn main() {}
