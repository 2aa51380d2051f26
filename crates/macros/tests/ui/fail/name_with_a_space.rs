use toolwright::tool;

/// Tells the weather.
#[tool(name = "get weather")]
fn weather(city: String) -> String {
    city
}

fn main() {}
