use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools(prefix = "my shop")]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}

    /// Closes the shop.
    #[tool]
    fn close(&self) {}
}

fn main() {}
