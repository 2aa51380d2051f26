//! The page about HTTP has every route.

use std::collections::BTreeSet;
use std::path::Path;

use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Registry};
use toolwright_server::ServerBuilder;

/// Replaces parameters, `{name}` in code and `NAME` on the page, by `*`.
fn pattern(path: &str) -> String {
    let is_parameter = |part: &str| {
        part.starts_with('{') || (!part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase()))
    };
    let parts = path.split('/').map(|part| if is_parameter(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_route_is_on_the_page_about_http() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    let page = std::fs::read_to_string(page).unwrap();
    let words = page.split(['`', ' ', '?']).filter(|word| word.starts_with('/'));
    let shown: BTreeSet<String> = words.map(pattern).collect();
    let invoker = Invoker::new(Registry::new()).unwrap();
    let server = ServerBuilder::new(invoker, ScriptedModel::new()).mount_all().build().unwrap();
    assert!(server.paths().len() > 40, "{:?}", server.paths());
    let missing: Vec<&String> =
        server.paths().iter().filter(|path| !shown.contains(&pattern(path))).collect();
    assert!(missing.is_empty(), "docs/http.md lacks {missing:?}");
}
