use toolwright::tools;

#[derive(Default)]
struct Shop {
    open: bool,
}

#[tools]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&mut self) {
        self.open = true;
    }
}

fn main() {}
