use toolwright::prompt;

/// Tells how to summarise.
#[prompt]
struct Summary;

fn main() {}
