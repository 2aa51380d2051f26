use toolwright::{tool, tool_type};

struct Address {
    street: String,
}

#[tool_type]
enum Delivery {
    Pickup,
    Post(Address),
}

/// Sends an order.
#[tool]
fn send(delivery: Delivery) -> String {
    match delivery {
        Delivery::Pickup => "ready".to_owned(),
        Delivery::Post(address) => address.street,
    }
}

fn main() {}
