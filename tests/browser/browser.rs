//! The console in a real browser: what people do there, and what must not be done to them.
//!
//! The tests are `tests/browser/*.test.js`.

use std::path::Path;

use test_support::{browser, programs};

#[test]
fn people_use_the_console_in_a_browser() {
    // Fails here if it is not built, and not in one of the tests.
    programs::example("test_programs");
    let program = Path::new(env!("CARGO_BIN_EXE_toolwright"));
    browser::run(&crate::test_files(""), program);
}
