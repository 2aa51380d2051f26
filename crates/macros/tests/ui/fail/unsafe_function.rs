use toolwright::tool;

/// Reads a register.
#[tool]
unsafe fn register(address: u64) -> u64 {
    address
}

fn main() {}
