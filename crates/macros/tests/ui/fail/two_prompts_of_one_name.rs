use toolwright::tools;

#[derive(Default)]
struct Desk;

#[tools]
impl Desk {
    /// Opens the desk.
    #[tool]
    fn open(&self) {}

    /// Asks to open the desk.
    #[prompt(name = "open")]
    fn ask(&self) -> &'static str {
        "Open the desk."
    }

    /// Asks to open the desk again.
    #[prompt(name = "open")]
    fn ask_again(&self) -> &'static str {
        "Open the desk again."
    }
}

fn main() {}
