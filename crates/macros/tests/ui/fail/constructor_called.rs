use toolwright::tools;

struct Shop;

#[tools(new = Shop::open())]
impl Shop {
    fn open() -> Self {
        Shop
    }

    /// Names the shop.
    #[tool]
    fn name(&self) -> String {
        "shop".to_owned()
    }
}

fn main() {}
