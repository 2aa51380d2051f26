use toolwright::{Caller, tool};

/// Greets the caller.
#[tool]
fn greet(#[param(description = "Who is greeted.")] caller: Caller) -> String {
    format!("{caller:?}")
}

fn main() {}
