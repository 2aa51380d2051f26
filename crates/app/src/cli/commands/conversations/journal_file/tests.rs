//! Parsing and writing of the file format.

use toolwright_server::write_journal;

use super::*;

const HEADER: &str = r#"{"toolwright":"journal","version":1,"conversation":"c"}"#;
const USER_ENTRY: &str =
    r#"{"id":"1","at":5,"what":{"user":{"content":[{"type":"text","text":"Hi\u001b\n"}]}}}"#;

fn parse_error(text: &str) -> (usize, String) {
    parse_journal(text).err().unwrap()
}

#[test]
fn what_is_read_is_written_to_the_byte() {
    // The vendor's JSON and all numbers are written unchanged.
    let step = r#"{"id":"2","at":6,"what":{"step":{"step":{"model":{"vendor":"v","name":"m"},"items":[{"type":"text","text":"Hello","raw":{"protocol":"p","json":{ "b" : 1.10, "a":[ ] }}}],"stop":"end","usage":{"input":1,"output":2,"cached":0,"reasoning":0,"estimated":false}},"calls":[],"cost":0.30000000000000004}}}"#;
    let finished = r#"{"id":"3","at":7,"what":{"finished":{"result":{"callId":"x","tool":"t","outcome":"ok","isError":false,"errorKind":null,"content":[{"type":"text","text":"ü\u001b"}],"structuredContent":{"z":1.7976931348623157e308,"a":-0.1},"notes":[]}}}}"#;
    let text = format!("{HEADER}\n{USER_ENTRY}\n{step}\n{finished}\n");
    let journal = parse_journal(&text).unwrap();
    assert_eq!(journal.conversation, "c");
    let once = write_journal("c", &journal.entries).unwrap();
    let raw = r#""json":{ "b" : 1.10, "a":[ ] }"#;
    assert!(once.contains(raw), "{once}");
    let again = write_journal("c", &parse_journal(&once).unwrap().entries).unwrap();
    assert_eq!(once, again);
    assert!(once.starts_with(&format!("{HEADER}\n{USER_ENTRY}\n")), "{once}");
}

#[test]
fn an_error_names_the_line_and_the_reason() {
    let (line, message) = parse_error("");
    assert!(line == 1 && message.contains("the first line has to be"), "{message}");
    let (line, message) = parse_error(&HEADER.replace("\"version\":1", "\"version\":2"));
    assert!(line == 1 && message.contains("version 2"), "{message}");
    let (line, message) = parse_error(&HEADER.replace("journal", "tools"));
    assert!(line == 1 && message.contains("`tools`"), "{message}");
    let (line, message) = parse_error(HEADER);
    assert!(line == 1 && message.contains("has entries"), "{message}");
    let cut = USER_ENTRY.get(..40).unwrap();
    let (line, message) = parse_error(&format!("{HEADER}\n{USER_ENTRY}\n{cut}"));
    assert!(line == 3 && message.contains("at column"), "{message}");
    let (line, message) = parse_error(&format!("{HEADER}\n{USER_ENTRY}\n\n"));
    assert!(line == 3, "{message}");
}

#[test]
fn numbers_are_read_as_they_are_written() {
    let mut state = 88_172_645_463_325_252_u64;
    for _ in 0..2_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = f64::from_bits(state);
        if number.is_finite() {
            let written = serde_json::to_string(&number).unwrap();
            let read: f64 = serde_json::from_str(&written).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), written);
        }
    }
}
