//! What lowering promises.
