use toolwright::tool;

/// Deletes a file.
#[tool(destructive, approvers = "owner, manager")]
fn delete(path: String) -> String {
    path
}

fn main() {}
