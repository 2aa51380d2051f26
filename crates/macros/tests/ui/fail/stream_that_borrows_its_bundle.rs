use futures::stream::{self, Stream};
use toolwright::{Updates, tools};

#[derive(Default)]
struct Shop;

#[tools]
impl Shop {
    /// Counts down.
    #[tool]
    fn count_down(&self, from: u32) -> Updates<impl Stream<Item = String>> {
        Updates(stream::iter((0..=from).rev().map(|n| n.to_string())))
    }
}

fn main() {}
