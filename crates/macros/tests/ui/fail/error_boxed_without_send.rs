use std::error::Error;

use toolwright::tool;

/// Tells the weather.
#[tool]
async fn weather(city: String) -> Result<String, Box<dyn Error>> {
    Ok(city)
}

fn main() {}
