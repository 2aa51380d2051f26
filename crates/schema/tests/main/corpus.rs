//! Every input the fuzzer ever found interesting, replayed.

use std::{fs, path::Path};

#[path = "../../../../fuzz/exercise.rs"]
mod exercise;

#[test]
fn every_known_input_keeps_every_promise() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/arguments");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).expect("the corpus") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("an input");
        if let Ok(text) = std::str::from_utf8(&bytes) {
            exercise::exercise(text);
            replayed += 1;
        }
    }
    assert!(replayed > 0, "the corpus is empty");
}
