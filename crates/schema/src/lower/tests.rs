//! What lowering promises.

mod combined_features;
mod argument_lifting;
mod size_limits;
