use toolwright::tool;

/// Tells the weather.
#[tool(readonly)]
fn weather(city: String) -> String {
    city
}

fn main() {}
