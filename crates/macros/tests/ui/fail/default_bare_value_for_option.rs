use toolwright::tool;

/// Lists files.
#[tool]
fn list(#[param(default = 10)] most: Option<u32>) -> String {
    format!("{most:?}")
}

fn main() {}
