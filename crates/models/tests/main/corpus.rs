//! Every answer the fuzzer ever found interesting, replayed however it is cut.

use std::fs;
use std::path::Path;

#[path = "../../../../fuzz/stream.rs"]
mod stream;

/// Byte by byte, and in pieces short and long.
const CUTS: [u8; 5] = [0, 1, 3, 20, 200];

#[test]
fn every_known_answer_keeps_every_promise() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/stream");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        println!("{}", path.display());
        stream::exercise(&bytes);
        for cut in CUTS {
            if let Some(second) = bytes.get_mut(1) {
                *second = b'0'.wrapping_add(cut);
            }
            stream::exercise(&bytes);
        }
        replayed += 1;
    }
    assert!(replayed > 0, "the corpus is empty");
}
