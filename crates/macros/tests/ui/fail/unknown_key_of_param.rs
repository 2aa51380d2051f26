use toolwright::tool;

/// Tells the weather.
#[tool]
fn weather(#[param(descr = "A city.", default = "Paris")] city: String) -> String {
    city
}

fn main() {}
