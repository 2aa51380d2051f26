use toolwright::tool;

/// Tells the weather.
#[tool]
#[tool(read_only)]
fn weather(city: String) -> String {
    city
}

fn main() {}
