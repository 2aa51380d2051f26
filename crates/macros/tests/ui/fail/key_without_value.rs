use toolwright::tool;

/// Tells the weather.
#[tool(title)]
fn weather(#[param(default)] city: String) -> String {
    city
}

fn main() {}
