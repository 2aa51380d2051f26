use toolwright::tools;

#[derive(Default)]
struct Shop;

#[tools(prefix = "the_shop_around_the_corner")]
impl Shop {
    /// Opens the shop.
    #[tool]
    fn open_at_the_usual_hour_unless_it_is_a_holiday(&self) {}
}

fn main() {}
