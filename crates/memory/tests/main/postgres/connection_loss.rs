//! Connections that are lost: nothing is half-written, and whoever asks again is served.

use std::sync::Arc;

use toolwright::chat::testing::ScriptedModel;
use toolwright::chat::{ChatError, Store as _, What};
use toolwright::{Tool, ToolError};
use toolwright_memory::PostgresStore;

use super::run;
use crate::fixtures::{Log, chat, hold, ids, several, tell};
use crate::server::{self, Server};

const END_ALL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'toolwright' AND datname = current_database()";

#[tokio::test]
async fn a_connection_that_was_ended_is_replaced_unnoticed() {
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.create_database().await;
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let room = hold(&*store, "room").await;
    for round in 0..5 {
        // As many connections as there can be.
        let many = (0..20).map(|_| store.load("room"));
        futures::future::try_join_all(many).await.unwrap();
        run(&url, END_ALL).await;
        store.append(&room, &several(round, 1)).await.unwrap();
    }
    let loaded = store.load("room").await.unwrap();
    assert_eq!(ids(&loaded), ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn connections_that_end_all_the_time_lose_nothing_and_double_nothing() {
    let Some(server) = server::shared() else {
        return;
    };
    let url = server.create_database().await;
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let room = hold(&*store, "room").await;
    let told = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for n in 0..60 {
                let batch = several(n * 3, 3);
                // Whoever is not sure that it was kept tells it again.
                while store.append(&room, &batch).await.is_err() {}
            }
        }
    });
    for _ in 0..30 {
        run(&url, END_ALL).await;
    }
    told.await.unwrap();
    let loaded = store.load("room").await.unwrap();
    assert_eq!(ids(&loaded), ids(&several(0, 180)));
    assert_eq!(store.list(1).await.unwrap()[0].entries, 180);
}

/// The server goes away while a tool runs, and comes back.
#[tokio::test]
async fn a_server_that_goes_away_in_mid_turn_is_a_clear_error_and_the_turn_goes_on_when_it_is_back()
{
    let Some(server) = Server::start(&["-c", "fsync=off"]) else {
        return;
    };
    let server = Arc::new(server);
    let url = server.create_database().await;
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let log = Log::default();
    let pull = |server: &Arc<Server>| {
        let (log, server) = (log.clone(), Arc::clone(server));
        Tool::builder("pull", "Pulls the plug.")
            .run(move |_, _| {
                log.write("pulled".to_owned());
                server.tell("stop");
                Ok::<_, ToolError>("pulled")
            })
            .unwrap()
    };
    let model = ScriptedModel::new().calls("pull", "{}");
    let first = chat(model, vec![pull(&server)], store.clone());
    let ask = first.prompt().conversation("room").user("Go!");
    let error = ask.call().await.unwrap_err();
    assert!(matches!(error, ChatError::Store(_)), "{error:?}");
    let said = error.to_string();
    let expected = "cannot be reached: see that it runs";
    assert!(
        said.starts_with("the conversation cannot be kept: the database `t0`"),
        "{said}"
    );
    assert!(said.contains(expected), "{said}");
    // Other conversations are served, by what does not need the server, and by the same store when it is back.
    let memory = ScriptedModel::new().says("Here.");
    let beside = chat(
        memory,
        Vec::new(),
        Arc::new(toolwright::chat::MemoryStore::new()),
    );
    let ask = beside.prompt().conversation("room").user("There?");
    assert_eq!(ask.call().await.unwrap().text(), "Here.");
    let error = store.load("other").await.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    server.tell("start");
    tell(&*store, "other", &several(0, 3)).await;

    // Nobody saw how the call ended: it does not run again, and the model is told.
    let model = ScriptedModel::new().says("I do not know.");
    let again = chat(model.clone(), vec![pull(&server)], store.clone());
    // The lease of the first is still there; it was not given back.
    run(&url, "UPDATE toolwright_conversations SET until = now()").await;
    let done = again.resume("room").call().await.unwrap();
    assert_eq!(done.text(), "I do not know.");
    assert_eq!(log.lines(), ["pulled"]);
    let entries = store.load("room").await.unwrap();
    let finished = entries.iter().filter_map(|entry| match &entry.what {
        What::Finished { result } => Some(result.text().into_owned()),
        _ => None,
    });
    let finished: Vec<String> = finished.collect();
    assert!(
        finished.len() == 1 && finished[0].contains("outcome is unknown"),
        "{finished:?}"
    );
}
