//! Whole turns, with a process that ends in between.

use toolwright::chat::testing::ScriptedModel;
use toolwright::chat::{ChatError, Entry, Message, What};

use crate::backend::Place;
use crate::fixtures::{Log, chat, pay, tell};

pub(crate) async fn a_conversation_goes_on_where_it_was_left(place: &Place) {
    let log = Log::default();
    for (n, answer) in ["One.", "Two.", "Three."].into_iter().enumerate() {
        let model = ScriptedModel::new().says(answer);
        let chat = chat(model.clone(), vec![pay(&log)], place.open().await);
        let ask = chat.prompt().conversation("room").user(format!("{n}?"));
        assert_eq!(ask.call().await.unwrap().text(), answer);
        let told = model.requests().remove(0).messages;
        assert_eq!(told.len(), 2 * n + 1, "{told:?}");
    }
    let listed = place.open().await.list(9).await.unwrap();
    assert_eq!((listed[0].title.as_str(), listed.len()), ("0?", 1));
}

pub(crate) async fn an_approval_that_waits_survives_a_restart(place: &Place) {
    let log = Log::default();
    let model = ScriptedModel::new().calls("pay", r#"{"amount": 40}"#);
    let first = chat(model, vec![pay(&log)], place.open().await);
    let ask = first.prompt().conversation("room").user("Pay!");
    let paused = ask.call().await.unwrap();
    let decided = paused.asked()[0].approve();
    drop((first, paused));

    let model = ScriptedModel::new().says("Done.");
    let second = chat(model.clone(), vec![pay(&log)], place.open().await);
    // Whoever comes back sees what waits, and nothing has run.
    let waits = second.resume("room").call().await.unwrap();
    assert_eq!(waits.asked().len(), 1);
    assert_eq!(
        waits.asked()[0].arguments,
        serde_json::json!({"amount": 40})
    );
    assert_eq!(waits.asked()[0].token, decided.token);
    assert_eq!(log.lines(), Vec::<String>::new());
    let done = second.decide("room", vec![decided.clone()]).call().await;
    assert_eq!(done.unwrap().text(), "Done.");
    assert_eq!(log.lines(), ["paid 40"]);
    let told = model.requests().remove(0).messages;
    assert!(
        matches!(told.last(), Some(Message::Results(results)) if results[0].text() == "paid 40")
    );

    // It was used, and stays so.
    let model = ScriptedModel::new();
    let third = chat(model, vec![pay(&log)], place.open().await);
    let again = third.decide("room", vec![decided]).call().await;
    assert!(matches!(again, Err(ChatError::Refused { .. })), "{again:?}");
    assert_eq!(log.lines(), ["paid 40"]);
}

pub(crate) async fn an_approval_is_for_the_arguments_it_was_asked_for(place: &Place) {
    let log = Log::default();
    let store = place.open().await;
    let model = ScriptedModel::new().calls("pay", r#"{"amount": 40}"#);
    let first = chat(model, vec![pay(&log)], store.clone());
    let ask = first.prompt().conversation("room").user("Pay!");
    let decided = ask.call().await.unwrap().asked()[0].approve();

    // Somebody changes what the journal says the call is made with.
    let changed: Vec<Entry> = store.load("room").await.unwrap();
    let changed = changed.into_iter().map(|entry| {
        let json = serde_json::to_string(&entry).unwrap();
        match entry.what {
            What::Step { .. } => serde_json::from_str(&json.replace("40", "4000")).unwrap(),
            _ => entry,
        }
    });
    tell(&store, "changed", &changed.collect::<Vec<_>>()).await;

    let model = ScriptedModel::new().says("I could not pay.");
    let second = chat(model.clone(), vec![pay(&log)], place.open().await);
    let done = second.decide("changed", vec![decided]).call().await;
    assert_eq!(done.unwrap().text(), "I could not pay.");
    assert_eq!(log.lines(), Vec::<String>::new());
    let told = model.requests().remove(0).messages;
    let Some(Message::Results(results)) = told.last() else {
        panic!("{told:?}")
    };
    let told = results[0].text();
    assert!(told.contains("the approval is for another call"), "{told}");
}

pub(crate) async fn prompts_of_two_processes_wait_for_each_other(place: &Place) {
    let chats = [place.open().await, place.open().await].map(|store| {
        let model = ScriptedModel::new().says("1").says("2").says("3");
        chat(model, Vec::new(), store)
    });
    let ask = |n: usize| {
        let ask = chats[n % 2].prompt().conversation("room");
        ask.user(format!("{n}?")).call()
    };
    let answers = futures::future::join_all((0..6).map(ask)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    let entries = place.open().await.load("room").await.unwrap();
    // A question, its answer and its end: nobody comes in between.
    let kinds = entries.iter().map(|entry| match entry.what {
        What::User { .. } => "user",
        What::Step { .. } => "step",
        What::Ended { .. } => "ended",
        _ => "other",
    });
    let kinds: Vec<&str> = kinds.collect();
    assert_eq!(kinds, ["user", "step", "ended"].repeat(6));
}
