use toolwright::tool;

/// Scales a picture.
#[tool]
fn scale(#[param(default = 2)] factor: f64) -> String {
    factor.to_string()
}

fn main() {}
