//! Mistakes and what the compiler says about them: one file each, named after the mistake.

#[test]
fn every_mistake_is_explained_where_it_stands() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
}
