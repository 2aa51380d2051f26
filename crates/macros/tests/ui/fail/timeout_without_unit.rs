use toolwright::tool;

/// Tells the weather.
#[tool(timeout = "30")]
fn weather(city: String) -> String {
    city
}

fn main() {}
