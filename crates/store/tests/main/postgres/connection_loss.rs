//! Lost connections: nothing is half-written, and a retry succeeds.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use test_support::servers::postgres::{self, NO_FSYNC, PostgresServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use toolwright::chat::{Append, ChatError, EntryBody, Store as _};
use toolwright::testing::ScriptedModel;
use toolwright::{Tool, ToolError};
use toolwright_store::PostgresStore;

use super::execute;
use crate::fixtures::{
    Log, acquire, append, chat, ids, inbox_message, numbered_entries, user_entry,
};

const TERMINATE_ALL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'toolwright' AND datname = current_database()";

#[tokio::test]
async fn a_terminated_connection_is_replaced_without_an_error() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let room = acquire(&*store, "room").await;
    for round in 0..5 {
        // Opens the maximum number of connections.
        let many = (0..20).map(|_| store.load("room"));
        futures::future::try_join_all(many).await.unwrap();
        execute(&url, TERMINATE_ALL).await;
        store.append(&room, Append::new(&numbered_entries(round, 1))).await.unwrap();
    }
    let loaded = store.load("room").await.unwrap();
    assert_eq!(ids(&loaded), ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn repeated_connection_loss_neither_loses_nor_duplicates_entries() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let room = acquire(&*store, "room").await;
    let appends = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for n in 0..60 {
                let batch = numbered_entries(n * 3, 3);
                // An append that failed may have been stored; repeating it is safe.
                while store.append(&room, Append::new(&batch)).await.is_err() {}
            }
        }
    });
    for _ in 0..30 {
        execute(&url, TERMINATE_ALL).await;
    }
    appends.await.unwrap();
    let loaded = store.load("room").await.unwrap();
    assert_eq!(ids(&loaded), ids(&numbered_entries(0, 180)));
    assert_eq!(store.list(1).await.unwrap()[0].entries, 180);
}

/// Forwards connections to the socket of a server. Loses a connection in place of the first response that reports a deletion: the
/// deletion is committed, and the client does not know.
async fn lose_deletion(listener: UnixListener, socket: PathBuf) {
    let is_lost = Arc::new(AtomicBool::new(false));
    while let Ok((client, _)) = listener.accept().await {
        let server = UnixStream::connect(&socket).await.unwrap();
        let is_lost = Arc::clone(&is_lost);
        tokio::spawn(async move {
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            let requests = tokio::io::copy(&mut from_client, &mut to_server);
            let responses = async {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
                    let response = &buffer[..count];
                    let is_deletion = response.windows(9).any(|part| part == b"DELETE 1\0");
                    if is_deletion && !is_lost.swap(true, Ordering::SeqCst) {
                        return;
                    }
                    to_client.write_all(response).await.unwrap();
                }
            };
            tokio::select! {
                _ = requests => {}
                () = responses => {}
            }
        });
    }
}

#[tokio::test]
async fn a_withdrawal_whose_response_is_lost_is_reported_as_done_unless_the_item_was_taken() {
    let Some(server) = postgres::shared() else {
        return;
    };
    let url = server.create_database().await;
    let socket = server.socket();
    let proxy = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(proxy.path().join(socket.file_name().unwrap())).unwrap();
    let directory = socket.parent().unwrap().display().to_string();
    tokio::spawn(lose_deletion(listener, socket));
    let proxied = url.replace(&directory, &proxy.path().display().to_string());
    let store = PostgresStore::connect(&proxied).await.unwrap();
    let push = async |id: &str| {
        store.push_inbox("room", &inbox_message(id, "Hi"), 9).await.unwrap().unwrap()
    };
    let (withdrawn, taken) = (push("withdrawn").await, push("taken").await);
    let room = acquire(&store, "room").await;
    let entries = [user_entry("taken", 1, "Hi")];
    store.append(&room, Append::new(&entries).taking(&[taken])).await.unwrap();
    assert!(store.remove_inbox_item("room", withdrawn).await.unwrap());
    assert!(!store.remove_inbox_item("room", withdrawn).await.unwrap());
    assert!(!store.remove_inbox_item("room", taken).await.unwrap());
    assert!(store.inbox("room").await.unwrap().is_empty());
}

/// The server stops while a tool runs, and is started again.
#[tokio::test]
async fn a_turn_fails_clearly_when_the_server_stops_and_resumes_when_it_is_back() {
    let Some(server) = PostgresServer::start(NO_FSYNC) else {
        return;
    };
    let server = Arc::new(server);
    let url = server.create_database().await;
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let log = Log::default();
    let stop_tool = |server: &Arc<PostgresServer>| {
        let (log, server) = (log.clone(), Arc::clone(server));
        Tool::builder("stop", "Stops the server.")
            .run(move |_, _| {
                log.write("stopped".to_owned());
                server.supervisor.run("stop");
                Ok::<_, ToolError>("stopped")
            })
            .unwrap()
    };
    let model = ScriptedModel::new().calls("stop", "{}");
    let first = chat(model, vec![stop_tool(&server)], store.clone());
    let ask = first.message().conversation("room").user("Go!");
    let error = ask.call().await.unwrap_err();
    assert!(matches!(error, ChatError::Store(_)), "{error:?}");
    let message = error.to_string();
    let expected = "cannot be reached: see that it runs";
    assert!(message.starts_with("the conversation cannot be kept: the database `t0`"), "{message}");
    assert!(message.contains(expected), "{message}");
    // Another store is not affected, and this one works again when the server is back.
    let memory = ScriptedModel::new().replies("Here.");
    let beside = chat(memory, Vec::new(), Arc::new(toolwright::chat::MemoryStore::new()));
    let ask = beside.message().conversation("room").user("There?");
    assert_eq!(ask.call().await.unwrap().text(), "Here.");
    let error = store.load("other").await.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    server.supervisor.run("start");
    append(&*store, "other", &numbered_entries(0, 3)).await;

    // The outcome of the call was not stored: it does not run again, and the model reads that it is unknown.
    let model = ScriptedModel::new().replies("I do not know.");
    let again = chat(model.clone(), vec![stop_tool(&server)], store.clone());
    // The first chat could not release its lease.
    execute(&url, "UPDATE toolwright_conversations SET until = now() WHERE holder IS NOT NULL")
        .await;
    let done = again.resume("room").call().await.unwrap();
    assert_eq!(done.text(), "I do not know.");
    assert_eq!(log.lines(), ["stopped"]);
    let entries = store.load("room").await.unwrap();
    let finished = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::CallFinished { result } => Some(result.text().into_owned()),
        _ => None,
    });
    let finished: Vec<String> = finished.collect();
    assert!(finished.len() == 1 && finished[0].contains("outcome is unknown"), "{finished:?}");
}
