//! Shutdown: streams end with a last event.

use serde_json::json;
use toolwright::testing::FnModel;
use toolwright_server::ServerBuilder;

use crate::rooms::Socket;
use crate::support::{ManualModel, TestServer, no_tools, serve};

const PATH: &str = "/api/conversations/c";

#[tokio::test]
async fn streams_end_with_a_last_event() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    let mut events = server.events(PATH, None).await;
    events.read_until("snapshot").await;
    let mut socket = Socket::open(&server, PATH).await;
    socket.next().await.unwrap();
    socket.next().await.unwrap();
    server.end().await;
    let last = events.next().await.unwrap();
    assert_eq!(last["event"]["type"], "goodbye");
    assert!(events.next().await.is_none());
    assert_eq!(socket.next().await.unwrap()["event"]["type"], "goodbye");
    assert!(socket.next().await.is_none());
}

#[tokio::test]
async fn a_turn_that_runs_may_come_to_its_end() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let after = server.post_message(PATH, "Go.").await;
    let mut events = server.events(PATH, Some(after)).await;
    strings.send("Almost ".to_owned()).unwrap();
    events.read_until("text").await;
    let ending = server.end();
    let finish = async {
        strings.send("done.".to_owned()).unwrap();
        strings.send(String::new()).unwrap();
        let ended = events.read_until("ended").await;
        assert_eq!(ended["event"]["content"][0]["text"], json!("Almost done."));
        assert_eq!(events.next().await.unwrap()["event"]["type"], "goodbye");
    };
    tokio::join!(ending, finish);
}

#[tokio::test]
async fn a_server_that_drains_responds_to_checks_on_new_connections() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    assert_eq!(server.get("/readyz").await.status, 200);
    let after = server.post_message(PATH, "Go.").await;
    let mut events = server.events(PATH, Some(after)).await;
    strings.send("Almost ".to_owned()).unwrap();
    events.read_until("text").await;
    let balancer = TestServer::at(server.addr);
    let checks = async {
        // Not 503, which a balancer takes for a failure: it would close the connections of requests that are not answered yet.
        loop {
            let ready = balancer.get("/readyz").await;
            if ready.status != 200 {
                assert_eq!(ready.status, 404, "{ready:?}");
                assert_eq!(ready.json()["error"]["kind"], "ending");
                assert_eq!(ready.header("connection"), "close");
                break;
            }
        }
        assert_eq!(balancer.get("/healthz").await.status, 200);
        strings.send("done.".to_owned()).unwrap();
        strings.send(String::new()).unwrap();
        events.read_until("ended").await;
        assert_eq!(events.next().await.unwrap()["event"]["type"], "goodbye");
    };
    tokio::join!(server.end(), checks);
}
