use toolwright::tools;

#[derive(Default)]
struct Shop {
    name: String,
}

#[tools]
impl Shop {
    /// Names the shop.
    #[tool]
    fn name(&self) -> &str {
        &self.name
    }
}

fn main() {}
