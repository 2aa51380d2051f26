use toolwright::tool;

/// Tells the weather.
#[tool(title = "Weather", read_only, title = "The weather")]
fn weather(
    #[param(description = "A city.")]
    #[param(description = "A town.")]
    city: String,
) -> String {
    city
}

fn main() {}
