use toolwright::tool;

/// Tells the weather.
#[tool(concurrency = 0)]
fn weather(city: String) -> String {
    city
}

fn main() {}
