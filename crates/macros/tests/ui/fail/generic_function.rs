use toolwright::tool;

/// Shows a value.
#[tool]
fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

fn main() {}
