use toolwright::tool;

/// Tells the weather.
#[tool]
struct Weather;

fn main() {}
