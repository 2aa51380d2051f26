use toolwright::tool;

/// Deletes a file.
#[tool(approval = "always")]
fn delete(path: String) -> String {
    path
}

fn main() {}
