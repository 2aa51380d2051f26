use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}

    /// Opens the shop early.
    #[tool(name = "open")]
    fn open_early(&self) {}
}

fn main() {}
