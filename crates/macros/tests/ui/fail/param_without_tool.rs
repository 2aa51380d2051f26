use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}

    /// Closes the shop.
    fn close(&self, #[param(default = "closed")] sign: String) {
        drop(sign);
    }
}

fn main() {}
