use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools]
impl Shop {
    /// Opens the shop.
    #[tool]
    #[tool(read_only)]
    fn open(&self) {}
}

fn main() {}
