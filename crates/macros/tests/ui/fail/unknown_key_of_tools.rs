use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools(supported(App))]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}
}

fn main() {}
