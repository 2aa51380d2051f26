//! What lowering promises.

mod awful;
mod lifting;
mod pathological;
