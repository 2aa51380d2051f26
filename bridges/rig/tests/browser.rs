//! The sample with a page, in a real browser.

use std::env;

#[path = "../../../tests/support/browser.rs"]
mod browser;
#[path = "../../../tests/support/real.rs"]
mod real;

#[test]
fn people_talk_to_a_rig_agent_in_a_browser() {
    // `cargo test` builds the examples into a folder beside the tests.
    let tests = env::current_exe().unwrap();
    let page = tests.ancestors().nth(2).unwrap().join("examples/page");
    let test = real::root().join("tests/browser/foreign/agent.test.js");
    browser::run(&[test], &page);
}
