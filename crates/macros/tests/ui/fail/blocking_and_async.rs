use toolwright::tool;

/// Tells the weather.
#[tool(blocking)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
