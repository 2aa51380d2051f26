use toolwright::tool;

struct Shop;

impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}
}

fn main() {}
