//! The frames do not depend on how the bytes are split.

use proptest::prelude::*;

use super::*;

fn decode_at_once(framing: Framing, text: &[u8]) -> Vec<(String, String)> {
    decode_in_chunks(framing, text, &[])
}

/// Decodes a text in chunks.
fn decode_in_chunks(framing: Framing, text: &[u8], places: &[usize]) -> Vec<(String, String)> {
    let mut decoder = FrameDecoder::new(framing);
    let mut frames = Vec::new();
    let mut keep_frame = |frame: Frame<'_>| {
        frames.push(pair(frame.event_name, frame.data));
        Ok(())
    };
    let mut from = 0;
    let mut places: Vec<usize> = places.iter().map(|place| place % (text.len() + 1)).collect();
    places.sort_unstable();
    places.push(text.len());
    for to in places {
        decoder.push_bytes(&text[from..to], &mut keep_frame).unwrap();
        from = to;
    }
    decoder.finish(&mut keep_frame).unwrap();
    frames
}

fn pair(name: &str, data: &str) -> (String, String) {
    (name.to_owned(), data.to_owned())
}

#[test]
fn an_event_ends_with_an_empty_line() {
    let text =
        b"event: a\ndata: 1\n\n: a comment\ndata:2\r\ndata: 3\r\n\r\nid: 7\rdata\r\rdata: open\n";
    assert_eq!(
        decode_at_once(Framing::ServerSentEvents, text),
        [pair("a", "1"), pair("", "2\n3"), pair("", "")]
    );
}

#[test]
fn a_name_without_data_is_no_event() {
    assert_eq!(
        decode_at_once(Framing::ServerSentEvents, b"event: ping\n\ndata: x\n\n"),
        [pair("", "x")]
    );
}

#[test]
fn a_line_is_a_frame_and_the_last_needs_no_end() {
    assert_eq!(
        decode_at_once(Framing::JsonLines, b"{\"a\":1}\n\n{\"b\":2}\r\n{\"c\":3}"),
        [pair("", "{\"a\":1}"), pair("", "{\"b\":2}"), pair("", "{\"c\":3}")]
    );
}

#[test]
fn a_mark_at_the_beginning_is_no_data() {
    assert_eq!(
        decode_at_once(Framing::ServerSentEvents, "\u{feff}data: é\n\n".as_bytes()),
        [pair("", "é")]
    );
}

#[test]
fn a_body_without_an_end_is_an_error() {
    let mut decoder = FrameDecoder::new(Framing::ServerSentEvents);
    let piece = vec![b'x'; 1 << 20];
    let refused = (0..20).find_map(|_| decoder.push_bytes(&piece, &mut |_| Ok(())).err());
    assert!(refused.unwrap().message.contains("longer than"));
}

#[test]
fn bytes_that_are_not_text_are_an_error() {
    let mut frames = 0;
    let mut decoder = FrameDecoder::new(Framing::JsonLines);
    let mut count_frame = |_: Frame<'_>| {
        frames += 1;
        Ok(())
    };
    let error = decoder.push_bytes(b"{}\n\xff\n", &mut count_frame).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert_eq!(frames, 1, "what came before it counts");
}

proptest! {
    #[test]
    fn frames_do_not_depend_on_where_bytes_are_cut(
        pieces in proptest::collection::vec(proptest::sample::select(vec!["data: ", "data", "event: a", ": c", "é", "\n", "\r\n", "\r", "\n\n", "{}", "\u{feff}"]), 0..24),
        places in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        let text = pieces.concat();
        for framing in [Framing::ServerSentEvents, Framing::JsonLines] {
            prop_assert_eq!(decode_in_chunks(framing, text.as_bytes(), &places), decode_at_once(framing, text.as_bytes()));
        }
    }
}
