use toolwright::tools;

struct Shop;

fn open() -> Option<Shop> {
    Some(Shop)
}

#[tools(new = open)]
impl Shop {
    /// Names the shop.
    #[tool]
    fn name(&self) -> String {
        "shop".to_owned()
    }
}

fn main() {}
