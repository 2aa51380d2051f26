//! The format of a body, however its bytes are split.

use super::*;

/// Decodes a body in chunks of a length.
fn read(framing: Framing, content_type: &str, body: &str, length: usize) -> Vec<Part> {
    let mut reading = BodyDecoder::new(framing, content_type, true);
    let mut read = Vec::new();
    let mut keep_part = |part: DecodedPart<'_>| {
        read.push(match part {
            DecodedPart::Frame(frame) => Part::Frame(frame.data.to_owned()),
            DecodedPart::CompleteBody(body) => Part::CompleteBody(body.to_owned()),
        });
        Ok(())
    };
    for piece in body.as_bytes().chunks(length) {
        reading.push_bytes(piece, &mut keep_part).unwrap();
    }
    reading.finish(&mut keep_part).unwrap();
    read
}

#[derive(Debug, PartialEq)]
enum Part {
    Frame(String),
    CompleteBody(String),
}

fn fails(framing: Framing, body: &str, length: usize) -> String {
    let mut reading = BodyDecoder::new(framing, "", true);
    let mut pieces = body.as_bytes().chunks(length);
    let fed = pieces.try_for_each(|piece| reading.push_bytes(piece, &mut |_| Ok(())));
    let ended = fed.and_then(|()| reading.finish(&mut |_| Ok(())));
    match ended {
        Err(error) => error.message,
        Ok(()) => reading.no_frames_error().unwrap().message,
    }
}

fn frame(data: &str) -> Part {
    Part::Frame(data.to_owned())
}

#[test]
fn one_json_value_instead_of_a_stream_is_read() {
    for length in [1, 2, 7, 1_000] {
        for body in ["\n {\"a\":\n 1}", "[{}]", "\u{feff}{}"] {
            let read = read(Framing::ServerSentEvents, "text/event-stream", body, length);
            assert_eq!(read, [Part::CompleteBody(body.to_owned())], "{length}");
        }
    }
}

#[test]
fn events_are_events_whatever_they_are_called() {
    for length in [1, 3, 1_000] {
        let body = ": hello\n\ndata: {}\n\n";
        let read = read(Framing::ServerSentEvents, "application/json", body, length);
        assert_eq!(read, [frame("{}")]);
    }
}

#[test]
fn lines_and_one_value_are_distinguished_by_their_content() {
    let lines = "{\"a\":1}\n{\"b\":2}";
    let both = [frame("{\"a\":1}"), frame("{\"b\":2}")];
    let pretty = "{\n \"a\": 1\n}\n";
    for length in [1, 4, 1_000] {
        assert_eq!(read(Framing::JsonLines, "application/x-ndjson", lines, length), both);
        assert_eq!(
            read(Framing::JsonLines, "application/json; charset=utf-8", lines, length),
            both
        );
        assert_eq!(
            read(Framing::JsonLines, "application/json", pretty, length),
            [Part::CompleteBody(pretty.to_owned())]
        );
    }
}

#[test]
fn a_page_is_named_as_what_it_is() {
    let page = format!("<!doctype html><title>Sign in</title>{}", "x".repeat(500));
    let error = fails(Framing::ServerSentEvents, &page, 1_000);
    assert!(error.contains("a page") && error.contains("Sign in"), "{error}");
    assert_eq!(error, fails(Framing::JsonLines, &page, 9));
    assert!(fails(Framing::ServerSentEvents, "<p>", 1).contains("<p>"));
}

#[test]
fn what_is_nothing_of_the_protocol_is_shown() {
    assert_eq!(
        fails(Framing::ServerSentEvents, "upstream connect error", 4),
        "the answer is not in the protocol: upstream connect error"
    );
    assert_eq!(fails(Framing::ServerSentEvents, "", 1), "the answer is empty");
}

#[test]
fn a_key_across_the_end_of_what_is_kept_of_a_body_is_redacted() {
    let key = format!("sk-{}", "Q7".repeat(20));
    for place in MAX_SHOWN_BYTES - 60..=MAX_SHOWN_BYTES + 10 {
        let spaces = " ".repeat(place);
        let token = "y".repeat(place.saturating_sub(10));
        for body in [
            format!("{spaces}{key} end"),
            format!("{spaces}<p>{key}</p>"),
            format!("Bearer {token} {key} end"),
            format!("<p>Bearer {token} {key}</p>"),
        ] {
            for length in [7, 10_000] {
                let message = fails(Framing::ServerSentEvents, &body, length);
                assert!(!message.contains("Q7"), "key at {place}: {message}");
            }
        }
    }
}

#[test]
fn an_answer_without_end_is_not_read_to_its_end() {
    let piece = [b' '; 1 << 20];
    let mut frames = BodyDecoder::new(Framing::ServerSentEvents, "", true);
    let event = format!("data: {}\n\n", "x".repeat(1 << 20));
    let error = (0..64).find_map(|_| frames.push_bytes(event.as_bytes(), &mut |_| Ok(())).err());
    assert!(error.unwrap().message.starts_with("the answer is longer"));
    let mut whole = BodyDecoder::new(Framing::ServerSentEvents, "", true);
    whole.push_bytes(b"{", &mut |_| Ok(())).unwrap();
    let error = (0..64).find_map(|_| whole.push_bytes(&piece, &mut |_| Ok(())).err());
    assert!(error.unwrap().message.starts_with("a frame is longer"));
    let mut line = BodyDecoder::new(Framing::ServerSentEvents, "", true);
    line.push_bytes(b"data: x", &mut |_| Ok(())).unwrap();
    let error = (0..64).find_map(|_| line.push_bytes(&piece, &mut |_| Ok(())).err());
    assert!(error.unwrap().message.starts_with("a frame is longer"));
}
