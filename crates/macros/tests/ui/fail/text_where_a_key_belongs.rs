use toolwright::tool;

/// Tells the weather.
#[tool("get_weather", read_only idempotent)]
fn weather(city: String) -> String {
    city
}

fn main() {}
