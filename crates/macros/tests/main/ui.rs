//! Mistakes and what the compiler says about them: one file each, named after the mistake.
//!
//! After a change that is meant: `TRYBUILD=overwrite cargo test -p toolwright-macros`, then read the diff.

#[test]
fn every_mistake_is_explained_where_it_stands() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}

#[test]
fn tools_stand_in_any_surroundings() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
