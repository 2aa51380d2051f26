use toolwright::tool;

/// Sells.
#[tool(tags = "shop", questions())]
fn sell() {}

fn main() {}
