use std::rc::Rc;

use toolwright::tool;

async fn look_outside() {}

/// Tells the weather.
#[tool]
async fn weather(city: String) -> String {
    let city = Rc::new(city);
    look_outside().await;
    city.to_string()
}

fn main() {}
