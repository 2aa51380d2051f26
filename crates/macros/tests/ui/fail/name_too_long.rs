use toolwright::tool;

/// Tells the weather.
#[tool]
fn tells_the_weather_of_any_city_in_the_world_at_any_time_of_the_year(city: String) -> String {
    city
}

fn main() {}
