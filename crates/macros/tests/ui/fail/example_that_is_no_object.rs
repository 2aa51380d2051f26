use toolwright::tool;

/// Sells.
#[tool(examples("bread"))]
fn sell() {}

/// Buys.
#[tool(examples = {"what": "bread"})]
fn buy() {}

fn main() {}
