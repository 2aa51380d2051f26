//! What a body is taken for, wherever it is cut.

use super::*;

/// Reads a body in pieces of a length.
fn read(framing: Framing, content_type: &str, body: &str, length: usize) -> Vec<Read> {
    let mut reading = Body::new(framing, content_type, true);
    let mut read = Vec::new();
    for piece in body.as_bytes().chunks(length) {
        reading.feed(piece, &mut read).unwrap();
    }
    reading.end(&mut read).unwrap();
    read
}

fn fails(framing: Framing, body: &str, length: usize) -> String {
    let mut reading = Body::new(framing, "", true);
    let mut pieces = body.as_bytes().chunks(length);
    let fed = pieces.try_for_each(|piece| reading.feed(piece, &mut Vec::new()));
    let ended = fed.and_then(|()| reading.end(&mut Vec::new()));
    match ended {
        Err(error) => error.message,
        Ok(()) => reading.nothing().unwrap().message,
    }
}

fn frame(data: &str) -> Read {
    Read::Frame(Frame {
        name: String::new(),
        data: data.to_owned(),
    })
}

#[test]
fn one_json_value_where_a_stream_was_asked_for_is_read_whole() {
    for length in [1, 2, 7, 1_000] {
        for body in ["\n {\"a\":\n 1}", "[{}]", "\u{feff}{}"] {
            let read = read(Framing::Events, "text/event-stream", body, length);
            assert_eq!(read, [Read::Whole(body.to_owned())], "{length}");
        }
    }
}

#[test]
fn events_are_events_whatever_they_are_called() {
    for length in [1, 3, 1_000] {
        let body = ": hello\n\ndata: {}\n\n";
        let read = read(Framing::Events, "application/json", body, length);
        assert_eq!(read, [frame("{}")]);
    }
}

#[test]
fn lines_and_one_value_are_told_apart_by_what_they_are() {
    let lines = "{\"a\":1}\n{\"b\":2}";
    let both = [frame("{\"a\":1}"), frame("{\"b\":2}")];
    let pretty = "{\n \"a\": 1\n}\n";
    for length in [1, 4, 1_000] {
        assert_eq!(
            read(Framing::Lines, "application/x-ndjson", lines, length),
            both
        );
        assert_eq!(
            read(
                Framing::Lines,
                "application/json; charset=utf-8",
                lines,
                length
            ),
            both
        );
        assert_eq!(
            read(Framing::Lines, "application/json", pretty, length),
            [Read::Whole(pretty.to_owned())]
        );
    }
}

#[test]
fn a_page_is_named_as_what_it_is() {
    let page = format!("<!doctype html><title>Sign in</title>{}", "x".repeat(500));
    let told = fails(Framing::Events, &page, 1_000);
    assert!(
        told.contains("a page") && told.contains("Sign in"),
        "{told}"
    );
    assert_eq!(told, fails(Framing::Lines, &page, 9));
    assert!(fails(Framing::Events, "<p>", 1).contains("<p>"));
}

#[test]
fn what_is_nothing_of_the_protocol_is_shown() {
    assert_eq!(
        fails(Framing::Events, "upstream connect error", 4),
        "the answer is not in the protocol: upstream connect error"
    );
    assert_eq!(fails(Framing::Events, "", 1), "the answer is empty");
}

#[test]
fn a_key_across_the_end_of_what_is_kept_of_a_body_is_redacted() {
    let key = format!("sk-{}", "Q7".repeat(20));
    for place in PAGE - 60..=PAGE + 10 {
        let spaces = " ".repeat(place);
        let token = "y".repeat(place.saturating_sub(10));
        for body in [
            format!("{spaces}{key} end"),
            format!("{spaces}<p>{key}</p>"),
            format!("Bearer {token} {key} end"),
            format!("<p>Bearer {token} {key}</p>"),
        ] {
            for length in [7, 10_000] {
                let message = fails(Framing::Events, &body, length);
                assert!(!message.contains("Q7"), "key at {place}: {message}");
            }
        }
    }
}

#[test]
fn an_answer_without_end_is_not_read_to_its_end() {
    let piece = [b' '; 1 << 20];
    let mut frames = Body::new(Framing::Events, "", true);
    let event = format!("data: {}\n\n", "x".repeat(1 << 20));
    let told = (0..64).find_map(|_| frames.feed(event.as_bytes(), &mut Vec::new()).err());
    assert!(told.unwrap().message.starts_with("the answer is longer"));
    let mut whole = Body::new(Framing::Events, "", true);
    whole.feed(b"{", &mut Vec::new()).unwrap();
    let told = (0..64).find_map(|_| whole.feed(&piece, &mut Vec::new()).err());
    assert!(told.unwrap().message.starts_with("a frame is longer"));
    let mut line = Body::new(Framing::Events, "", true);
    line.feed(b"data: x", &mut Vec::new()).unwrap();
    let told = (0..64).find_map(|_| line.feed(&piece, &mut Vec::new()).err());
    assert!(told.unwrap().message.starts_with("a frame is longer"));
}
