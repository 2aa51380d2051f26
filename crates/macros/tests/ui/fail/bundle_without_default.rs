use toolwright::tools;

struct Shop {
    name: String,
}

#[tools]
impl Shop {
    /// Names the shop.
    #[tool]
    fn name(&self) -> String {
        self.name.clone()
    }
}

fn main() {}
