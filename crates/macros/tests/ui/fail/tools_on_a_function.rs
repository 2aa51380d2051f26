use toolwright::tools;

/// Tells the weather.
#[tools]
fn weather(city: String) -> String {
    city
}

fn main() {}
