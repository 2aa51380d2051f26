//! The fuzzer's corpus of responses, replayed in chunks of several lengths.

use std::fs;
use std::path::Path;

#[path = "../../../../fuzz/stream.rs"]
mod stream;

/// Byte by byte, and in short and long chunks.
const CUTS: [u8; 5] = [0, 1, 3, 20, 200];

#[test]
fn every_known_response_passes_every_check() {
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
