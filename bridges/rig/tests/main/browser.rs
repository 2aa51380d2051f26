//! The sample with a page, in a real browser.

use test_support::{browser, programs, real};

#[test]
fn people_talk_to_a_rig_agent_in_a_browser() {
    let test = real::root().join("tests/browser/foreign/agent.test.js");
    browser::run(&[test], &programs::example("page"));
}
