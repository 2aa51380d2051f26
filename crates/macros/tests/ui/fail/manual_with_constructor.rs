use toolwright::tools;

struct Shop;

#[tools(manual, new = open)]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}
}

fn open() -> Shop {
    Shop
}

fn main() {}
