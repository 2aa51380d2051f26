use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools(supported_for())]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}
}

fn main() {}
