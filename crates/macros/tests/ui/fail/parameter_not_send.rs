use std::rc::Rc;

use toolwright::tool;

/// Tells the weather.
#[tool]
fn weather(city: Rc<String>) -> String {
    city.to_string()
}

fn main() {}
