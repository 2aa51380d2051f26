use toolwright::tool;

/// Tells the weather.
#[tool(title = 5, read_only = "yes", timeout = 30, concurrency = "4")]
fn weather(city: String) -> String {
    city
}

fn main() {}
