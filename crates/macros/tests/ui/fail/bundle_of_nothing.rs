use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools]
impl Shop {
    /// Opens the shop.
    fn open(&self) {}
}

fn main() {}
