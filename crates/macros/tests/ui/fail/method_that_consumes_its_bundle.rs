use std::sync::Arc;

use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(self) {}

    /// Closes the shop.
    #[tool]
    fn close(self: Arc<Self>) {}
}

fn main() {}
