use toolwright::tools;

#[derive(Default)]
struct Shop<T>(T);

#[tools]
impl<T: Send + Sync + 'static> Shop<T> {
    /// Opens the shop.
    #[tool]
    fn open(&self) {}
}

fn main() {}
