use toolwright::tool_type;

#[tool_type]
fn order() {}

#[tool_type(both)]
struct Order {
    number: u32,
}

fn main() {}
