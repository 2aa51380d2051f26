use toolwright::tool;

struct Weather {
    degrees: i32,
}

/// Tells the weather.
#[tool]
fn weather() -> Weather {
    Weather { degrees: 20 }
}

/// Tells the weather later.
#[tool]
async fn weather_later() -> Result<Weather, String> {
    let weather = weather();
    println!("{}", weather.degrees);
    Ok(weather)
}

fn main() {}
