use toolwright::tool;

const MOST: usize = 10;

/// Lists files.
#[tool]
fn list(#[param(default = MOST)] most: u32) -> String {
    most.to_string()
}

fn main() {}
