use std::cell::Cell;

use toolwright::tools;

#[derive(Default)]
struct Shop {
    visitors: Cell<u32>,
}

#[tools]
impl Shop {
    /// Counts a visitor.
    #[tool]
    fn visit(&self) {
        self.visitors.set(self.visitors.get() + 1);
    }
}

fn main() {}
