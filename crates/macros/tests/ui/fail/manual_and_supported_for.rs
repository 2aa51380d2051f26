use toolwright::tools;

struct App;

struct Shop;

#[tools(manual, supported_for(App))]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}
}

fn main() {}
