use toolwright::{Registry, tool};

#[tool(name = "look up", readonly, concurrency = 0)]
fn look_up(
    order: &str,
    #[param(default = 1)] reason: String,
    #[param(name = "reason", required, default = "${shop}")] why: String,
) -> String {
    format!("{order} {reason} {why}")
}

fn add_all() {
    let registry = Registry::new();
    registry.add(look_up::tool()).unwrap();
    look_up("A-1", String::new(), String::new());
}

fn main() {}
