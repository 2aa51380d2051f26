use toolwright::tool;

/// Deletes a file.
#[tool(approval = sometimes)]
fn delete(path: String) -> String {
    path
}

fn main() {}
