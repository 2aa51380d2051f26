use toolwright::tool;

/// Tells the weather.
#[tool(readonly, flavour = "sweet")]
fn weather(city: String) -> String {
    city
}

fn main() {}
