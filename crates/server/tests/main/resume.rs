//! A client that loses its connection and reconnects receives the remaining events, each once.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright::testing::FnModel;
use toolwright_server::ServerBuilder;

use crate::support::{ManualModel, TestServer, no_tools, serve};

const PATH: &str = "/api/conversations/c";

/// Reads a turn over connections that are closed after so many events each.
async fn read_in_pieces(server: &TestServer, mut after: u64, cuts: &[usize]) -> Vec<(u64, Value)> {
    let mut read = Vec::new();
    let mut cuts = cuts.iter().copied().chain(std::iter::repeat(usize::MAX));
    loop {
        let mut events = server.events(PATH, Some(after)).await;
        for _ in 0..cuts.next().unwrap() {
            let line = events.next().await.expect("the stream ended");
            after = line["seq"].as_u64().unwrap();
            let event = line["event"].clone();
            let over = event["type"] == "ended";
            read.push((after, event));
            if over {
                return read;
            }
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_comes_twice_wherever_the_connection_breaks(
        words in prop::collection::vec("[a-z]{1,5} ", 1..30),
        cuts in prop::collection::vec(0_usize..6, 0..12),
    ) {
        runtime().block_on(async {
            let (model, strings) = ManualModel::new();
            let server = serve(ServerBuilder::new(no_tools(), model)).await;
            let after = server.post_message(PATH, "Go.").await;
            let sent = words.concat();
            // The model streams while its subscriber disconnects and reconnects.
            let speak = async {
                for word in words {
                    strings.send(word).unwrap();
                    tokio::task::yield_now().await;
                }
                strings.send(String::new()).unwrap();
            };
            let (read, ()) = tokio::join!(read_in_pieces(&server, after, &cuts), speak);
            let numbers: Vec<u64> = read.iter().map(|(seq, _)| *seq).collect();
            assert!(numbers[0] > after);
            let expected: Vec<u64> = (numbers[0]..).take(numbers.len()).collect();
            assert_eq!(numbers, expected);
            let text: String = read
                .iter()
                .filter_map(|(_, event)| event["delta"].as_str())
                .collect();
            assert_eq!(text, sent);
            server.end().await;
        });
    }
}

#[tokio::test]
async fn a_page_that_reloads_in_mid_answer_sees_all_of_it() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let mut first = server.events(PATH, None).await;
    first.read_until("snapshot").await;
    server.post_message(PATH, "Go.").await;
    strings.send("Half ".to_owned()).unwrap();
    first.read_until("text").await;
    drop(first);
    let shown = server.get(PATH).await.json();
    assert_eq!(shown["running"], true);
    assert_eq!(shown["entries"], json!([]));
    let mut second = server.events(PATH, shown["seq"].as_u64()).await;
    strings.send("an answer.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    let events = second.collect_turn().await;
    assert_eq!(events[0]["type"], "said");
    assert_eq!(crate::support::joined_text(&events), "Half an answer.");
    let shown = server.get(PATH).await.json();
    assert_eq!(shown["running"], false);
    assert_eq!(shown["entries"].as_array().unwrap().len(), 3);
    let mut third = server.events(PATH, shown["seq"].as_u64()).await;
    strings.send(String::new()).unwrap();
    server.post_message(PATH, "More.").await;
    assert_eq!(third.next().await.unwrap()["event"]["type"], "said");
}

#[tokio::test]
async fn the_last_event_that_a_browser_names_counts_more_than_the_address() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    let after = server.post_message(PATH, "Hi").await;
    let mut events = server.events(PATH, Some(after)).await;
    let third = events.read_until("text").await["seq"].as_u64().unwrap();
    let request = server.request("GET", &format!("{PATH}/events?after={after}"));
    let request = request.header("last-event-id", third.to_string());
    let mut events = crate::support::SseEvents::new(server.open(request, "").await);
    assert_eq!(events.next().await.unwrap()["seq"], third + 1);
}

#[tokio::test]
async fn an_unknown_sequence_number_gets_a_snapshot() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    server.post_and_collect(PATH, "Hi").await;
    for unknown in [0, 1 << 52] {
        let mut events = server.events(PATH, Some(unknown)).await;
        let first = events.next().await.unwrap();
        assert_eq!(first["event"]["type"], "snapshot");
        assert_eq!(first["event"]["entries"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn a_lost_connection_ends_nothing_and_stop_does() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let after = server.post_message(PATH, "Go.").await;
    let mut events = server.events(PATH, Some(after)).await;
    strings.send("Half".to_owned()).unwrap();
    events.read_until("text").await;
    drop(events);
    assert_eq!(server.get(PATH).await.json()["running"], true);
    let prompt = format!("{PATH}/prompt");
    let queued = server.post(&prompt, json!({ "text": "Next." })).await;
    assert_eq!(queued.json()["queued"], true);
    let stopped = server.post(&format!("{PATH}/stop"), json!({})).await;
    assert_eq!(stopped.json()["stopped"], true);
    let mut events = server.events(PATH, Some(after)).await;
    assert_eq!(events.read_until("ended").await["event"]["end"], "cancelled");
    events.read_until("said").await;
    strings.send("Done.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    assert_eq!(events.read_until("ended").await["event"]["end"], "answered");
}

#[tokio::test]
async fn a_message_that_waits_is_listed_until_its_turn_begins() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let after = server.post_message(PATH, "First.").await;
    let mut events = server.events(PATH, Some(after)).await;
    events.read_until("began").await;
    assert_eq!(server.get(PATH).await.json().get("queued"), None);
    let prompt = format!("{PATH}/prompt");
    server.post(&prompt, json!({ "text": "Second." })).await;
    let second = json!([[{ "role": "user", "content": [{ "type": "text", "text": "Second." }] }]]);
    assert_eq!(server.get(PATH).await.json()["queued"], second);
    strings.send("Done.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    events.read_until("ended").await;
    events.read_until("said").await;
    assert_eq!(server.get(PATH).await.json().get("queued"), None);
}

#[tokio::test]
async fn a_conversation_takes_only_so_many_prompts_at_once() {
    let (model, _strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let mut refused = 0;
    for _ in 0..20 {
        let prompt = format!("{PATH}/prompt");
        let answer = server.post(&prompt, json!({ "text": "Go." })).await;
        refused += usize::from(answer.status == 429);
    }
    assert!((1..=4).contains(&refused), "{refused}");
}
