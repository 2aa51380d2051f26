//! The JSON of a journal: every kind of entry, item, verdict and end, as it is stored and exported.

use toolwright::chat::Entry;

/// From the first release on, no line of it changes; new kinds are added.
const EVERY_KIND: &str = include_str!("journal_format/every_kind.jsonl");

#[test]
fn every_kind_of_entry_is_read_and_written_again_byte_for_byte() {
    for line in EVERY_KIND.lines() {
        let entry = Entry::from_json(line).unwrap();
        assert!(!entry.is_unknown(), "{line}");
        assert_eq!(serde_json::to_string(&entry).unwrap(), line);
    }
}
