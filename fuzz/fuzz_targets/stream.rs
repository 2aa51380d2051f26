//! Any bytes a vendor may answer with.
#![no_main]

#[path = "../stream.rs"]
mod stream;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stream::exercise(bytes));
