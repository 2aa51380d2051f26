use toolwright::tool;

/// Plans a trip.
#[tool]
fn trip(#[param(name = "")] to: String) -> String {
    to
}

fn main() {}
