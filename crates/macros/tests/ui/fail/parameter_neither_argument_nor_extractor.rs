use toolwright::tool;

struct City(String);

/// Tells the weather.
#[tool]
async fn weather(city: City, days: u32) -> String {
    format!("{} {days}", city.0)
}

fn main() {}
