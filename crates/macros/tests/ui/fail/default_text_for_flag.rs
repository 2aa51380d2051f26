use toolwright::tool;

/// Lists files.
#[tool]
fn list(#[param(default = "yes")] hidden: bool) -> String {
    hidden.to_string()
}

fn main() {}
