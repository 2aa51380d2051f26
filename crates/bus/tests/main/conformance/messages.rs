//! The content of messages.

use toolwright_bus::{Bus as _, Delivery, MAX_MESSAGE_BYTES};

use crate::backend::Backend;
use crate::fixtures::{next, next_text};

pub(crate) async fn a_message_is_received_byte_for_byte(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut subscription = two.subscribe("room").await.unwrap();
    let all: String = (0..=char::MAX as u32).filter_map(char::from_u32).collect();
    let texts = [
        "",
        " ",
        "\0",
        "\0\\0\\\0\\\\",
        "a\0b",
        "\n1 node 0 m\n",
        "'; SELECT 1; --",
        "{\"text\":\"\\u0000\"}",
        "\u{1F980} \u{202E} \u{FEFF} \u{10FFFF}",
        "\r\nPUB x 1\r\n",
        &all,
    ];
    for text in texts {
        one.publish("room", text.to_owned());
    }
    for text in texts {
        assert!(next_text(&mut subscription).await == text, "{:?}", text.get(..40));
    }
}

pub(crate) async fn names_of_channels_may_be_anything(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let long = "n".repeat(10_000);
    for name in ["", " ", "\0", "a.b.*.>", "'\"\\;", "\u{1F980}\n", "\r\n", &long] {
        let mut subscription = two.subscribe(name).await.unwrap();
        one.publish(name, "hello".to_owned());
        assert_eq!(next_text(&mut subscription).await, "hello", "{name:?}");
    }
}

pub(crate) async fn a_big_message_is_received_whole_and_in_its_place(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut subscription = two.subscribe("room").await.unwrap();
    let big = "\u{e9}a\u{1F980}\\\"\u{2028}".repeat((5 << 20) / 12);
    assert!(big.len() > (5 << 20) - 100);
    let with_nul = "0123456\0".repeat(1 << 15);
    let largest = "x".repeat(MAX_MESSAGE_BYTES);
    for text in ["before", &big, "between", &with_nul, &largest, "after"] {
        one.publish("room", text.to_owned());
        // Not by `assert_eq`, whose message would be as large.
        assert!(next_text(&mut subscription).await == text, "{} bytes", text.len());
    }
}

pub(crate) async fn a_message_that_is_too_large_is_a_gap(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut subscription = two.subscribe("room").await.unwrap();
    let mut other = two.subscribe("other").await.unwrap();
    one.publish("room", "before".to_owned());
    one.publish("room", "x".repeat(MAX_MESSAGE_BYTES + 1));
    one.publish("room", "after".to_owned());
    one.publish("other", "untouched".to_owned());
    assert_eq!(next_text(&mut subscription).await, "before");
    assert_eq!(next(&mut subscription).await, Delivery::Gap);
    assert_eq!(next_text(&mut subscription).await, "after");
    assert_eq!(next_text(&mut other).await, "untouched");
    assert_eq!(one.status().dropped, 1);
}

pub(crate) async fn equal_messages_are_all_received(backend: &Backend) {
    let [one, two] = backend.nodes().await;
    let mut subscription = two.subscribe("room").await.unwrap();
    for _ in 0..100 {
        one.publish("room", "wake up".to_owned());
    }
    one.publish("room", "end".to_owned());
    for _ in 0..100 {
        assert_eq!(next_text(&mut subscription).await, "wake up");
    }
    assert_eq!(next_text(&mut subscription).await, "end");
}
