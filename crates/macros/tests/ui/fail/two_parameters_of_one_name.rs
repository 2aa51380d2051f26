use toolwright::tool;

/// Plans a trip.
#[tool]
fn trip(from: String, #[param(name = "from")] to: String) -> String {
    from + &to
}

fn main() {}
