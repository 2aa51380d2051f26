//! What lowering promises.

mod argument_lifting;
mod combined_features;
mod size_limits;
