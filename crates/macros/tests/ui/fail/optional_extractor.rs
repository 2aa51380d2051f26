use toolwright::{Caller, State, tool};

struct Shop;

/// Looks up an order.
#[tool]
fn look_up(order: String, shop: Option<State<Shop>>, caller: Option<Caller>) -> String {
    drop((shop, caller));
    order
}

fn main() {}
