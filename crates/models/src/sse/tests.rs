//! Frames as they come out, however bytes come in.

use proptest::prelude::*;

use super::*;

fn whole(framing: Framing, text: &[u8]) -> Vec<(String, String)> {
    cut(framing, text, &[])
}

/// Decodes a text cut at some places.
fn cut(framing: Framing, text: &[u8], places: &[usize]) -> Vec<(String, String)> {
    let mut decoder = Decoder::new(framing);
    let mut frames = Vec::new();
    let mut from = 0;
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place % (text.len() + 1))
        .collect();
    places.sort_unstable();
    places.push(text.len());
    for to in places {
        decoder.feed(&text[from..to], &mut frames).unwrap();
        from = to;
    }
    decoder.end(&mut frames).unwrap();
    frames
        .into_iter()
        .map(|frame| (frame.name, frame.data))
        .collect()
}

fn pair(name: &str, data: &str) -> (String, String) {
    (name.to_owned(), data.to_owned())
}

#[test]
fn an_event_ends_with_an_empty_line() {
    let text =
        b"event: a\ndata: 1\n\n: a comment\ndata:2\r\ndata: 3\r\n\r\nid: 7\rdata\r\rdata: open\n";
    assert_eq!(
        whole(Framing::Events, text),
        [pair("a", "1"), pair("", "2\n3"), pair("", "")]
    );
}

#[test]
fn a_name_without_data_is_no_event() {
    assert_eq!(
        whole(Framing::Events, b"event: ping\n\ndata: x\n\n"),
        [pair("", "x")]
    );
}

#[test]
fn a_line_is_a_frame_and_the_last_needs_no_end() {
    assert_eq!(
        whole(Framing::Lines, b"{\"a\":1}\n\n{\"b\":2}\r\n{\"c\":3}"),
        [
            pair("", "{\"a\":1}"),
            pair("", "{\"b\":2}"),
            pair("", "{\"c\":3}")
        ]
    );
}

#[test]
fn a_mark_at_the_beginning_is_no_data() {
    assert_eq!(
        whole(Framing::Events, "\u{feff}data: é\n\n".as_bytes()),
        [pair("", "é")]
    );
}

#[test]
fn what_never_ends_is_refused() {
    let mut decoder = Decoder::new(Framing::Events);
    let piece = vec![b'x'; 1 << 20];
    let refused = (0..20).find_map(|_| decoder.feed(&piece, &mut Vec::new()).err());
    assert!(refused.unwrap().message.contains("longer than"));
}

#[test]
fn what_is_not_text_is_refused() {
    let mut frames = Vec::new();
    let mut decoder = Decoder::new(Framing::Lines);
    let error = decoder.feed(b"{}\n\xff\n", &mut frames).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert_eq!(frames.len(), 1, "what came before it counts");
}

proptest! {
    #[test]
    fn frames_do_not_depend_on_where_bytes_are_cut(
        pieces in proptest::collection::vec(proptest::sample::select(vec!["data: ", "data", "event: a", ": c", "é", "\n", "\r\n", "\r", "\n\n", "{}", "\u{feff}"]), 0..24),
        places in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        let text = pieces.concat();
        for framing in [Framing::Events, Framing::Lines] {
            prop_assert_eq!(cut(framing, text.as_bytes(), &places), whole(framing, text.as_bytes()));
        }
    }
}
