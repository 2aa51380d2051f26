use toolwright::tool;

struct NoSuchCity;

/// Tells the weather.
#[tool]
fn weather(city: String) -> Result<String, NoSuchCity> {
    if city.is_empty() { Err(NoSuchCity) } else { Ok(city) }
}

fn main() {}
