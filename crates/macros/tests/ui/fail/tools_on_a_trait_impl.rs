use toolwright::tools;

#[derive(Default)]
struct Shop;

trait Open {
    fn open(&self, sign: String);
}

#[tools]
impl Open for Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self, #[param(default = "open")] sign: String) {
        drop(sign);
    }
}

fn main() {}
