//! Compile errors: one file each, named after the error.
//!
//! After an intended change: `TRYBUILD=overwrite cargo test -p toolwright-macros`, then read the diff.

#[test]
fn every_error_has_its_message_and_span() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
