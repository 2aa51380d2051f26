use toolwright::tool;

/// Lists files.
#[tool]
fn list(#[param(default = -1)] most: u32) -> String {
    most.to_string()
}

fn main() {}
