use toolwright::tool;

#[derive(serde::Deserialize)]
struct City(String);

/// Tells the weather.
#[tool]
fn weather(city: City) -> String {
    city.0
}

fn main() {}
