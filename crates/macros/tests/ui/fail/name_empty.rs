use toolwright::tool;

/// Tells the weather.
#[tool(name = "")]
fn weather(city: String) -> String {
    city
}

fn main() {}
