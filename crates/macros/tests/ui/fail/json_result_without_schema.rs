use toolwright::{Json, tool};

#[derive(serde::Serialize)]
struct Weather {
    degrees: i32,
}

/// Tells the weather.
#[tool]
fn weather() -> Json<Weather> {
    Json(Weather { degrees: 20 })
}

fn main() {}
