use toolwright::tool;

/// Lists files.
#[tool]
fn list(#[param(default = "ten")] most: u32) -> String {
    most.to_string()
}

fn main() {}
