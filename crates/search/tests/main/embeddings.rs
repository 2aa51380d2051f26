//! Searches of a program that also find tools by meaning.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::search::{CatalogCache, EmbedError, Embedder, SearchGateway, ToolEmbeddings};
use toolwright::{
    BoxFuture, Bridge, Invoker, MemorySharedState, RegisteredTool, Registry, Tool, ToolCall,
};

/// Knows that coats are about the weather.
#[derive(Clone, Default)]
struct Coats(Arc<CoatState>);

#[derive(Default)]
struct CoatState {
    requests: AtomicUsize,
    behaviour: Behaviour,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Behaviour {
    #[default]
    Works,
    Fails,
    /// Answers about tools, but not about questions.
    HangsOnQuestions,
}

impl Coats {
    fn new(behaviour: Behaviour) -> Self {
        Self(Arc::new(CoatState { behaviour, ..CoatState::default() }))
    }

    fn requests(&self) -> usize {
        self.0.requests.load(Ordering::Relaxed)
    }
}

impl Embedder for Coats {
    fn model(&self) -> &str {
        "coats"
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            self.0.requests.fetch_add(1, Ordering::Relaxed);
            let is_question = texts.iter().any(|text| text.ends_with('?'));
            match self.0.behaviour {
                Behaviour::Fails => return Err(EmbedError::new("out of reach")),
                Behaviour::HangsOnQuestions if is_question => pending().await,
                _ => {}
            }
            let about = |text: &String| match text.contains("weather") || text.contains("coat") {
                true => vec![1.0, 0.1],
                false => vec![0.1, 1.0],
            };
            Ok(texts.iter().map(about).collect())
        })
    }
}

fn registry() -> Registry {
    let tool = |name: &str, description: &str| Tool::builder(name, description).run(|_, _| "done");
    let weather = tool("get_weather", "Returns the weather in a city.");
    let ticket = tool("create_ticket", "Opens a support ticket.");
    Registry::of(vec![weather.unwrap(), ticket.unwrap()]).unwrap()
}

fn tools() -> Arc<[RegisteredTool]> {
    registry().snapshot().iter().cloned().collect()
}

async fn names(
    catalogs: &CatalogCache,
    embeddings: &ToolEmbeddings,
    question: &str,
) -> Vec<String> {
    let found = catalogs.search(&tools(), question, 1, Some(embeddings)).await;
    found.iter().map(|(tool, _)| tool.spec().name.to_string()).collect()
}

fn embeddings(coats: &Coats) -> ToolEmbeddings {
    ToolEmbeddings::new(coats.clone(), Arc::new(MemorySharedState::default()))
}

/// Searches until a background task has made the vectors.
async fn names_when_embedded(catalogs: &CatalogCache, embeddings: &ToolEmbeddings) -> Vec<String> {
    for _ in 0..100 {
        let found = names(catalogs, embeddings, "Do I need a coat?").await;
        if !found.is_empty() {
            return found;
        }
        tokio::task::yield_now().await;
    }
    Vec::new()
}

#[tokio::test]
async fn a_search_uses_words_until_the_vectors_are_made_and_meaning_from_then_on() {
    let (coats, catalogs) = (Coats::new(Behaviour::Works), CatalogCache::default());
    let embeddings = embeddings(&coats);
    assert!(names(&catalogs, &embeddings, "Do I need a coat?").await.is_empty(), "words alone");
    assert_eq!(names(&catalogs, &embeddings, "a support ticket").await, ["create_ticket"]);
    assert_eq!(names_when_embedded(&catalogs, &embeddings).await, ["get_weather"]);
    assert_eq!(names(&catalogs, &embeddings, "open a ticket").await, ["create_ticket"]);
}

#[tokio::test]
async fn vectors_can_be_made_beforehand_and_are_stored() {
    let (first, second) = (Coats::default(), Coats::default());
    let stored: Arc<MemorySharedState> = Arc::default();
    for (coats, requests) in [(&first, 1), (&second, 0)] {
        let embeddings = ToolEmbeddings::new(coats.clone(), Arc::clone(&stored) as _);
        let catalogs = CatalogCache::default();
        catalogs.embed(&tools(), &embeddings).await;
        assert_eq!(coats.requests(), requests, "only the first process embeds the tools");
        assert_eq!(names(&catalogs, &embeddings, "Do I need a coat?").await, ["get_weather"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_fails_is_left_alone_for_a_while_and_words_are_used() {
    let (coats, catalogs) = (Coats::new(Behaviour::Fails), CatalogCache::default());
    let embeddings = embeddings(&coats);
    catalogs.embed(&tools(), &embeddings).await;
    for _ in 0..3 {
        assert_eq!(names(&catalogs, &embeddings, "a support ticket?").await, ["create_ticket"]);
    }
    assert_eq!(coats.requests(), 1);
    tokio::time::advance(Duration::from_secs(31)).await;
    names_when_embedded(&catalogs, &embeddings).await;
    assert_eq!(coats.requests(), 2, "then it is tried again");
}

#[tokio::test(start_paused = true)]
async fn a_search_waits_two_seconds_at_most() {
    let (coats, catalogs) = (Coats::new(Behaviour::HangsOnQuestions), CatalogCache::default());
    let embeddings = embeddings(&coats);
    catalogs.embed(&tools(), &embeddings).await;
    let began = tokio::time::Instant::now();
    assert_eq!(names(&catalogs, &embeddings, "a support ticket?").await, ["create_ticket"]);
    assert_eq!(began.elapsed().as_secs(), 2);
    assert_eq!(names(&catalogs, &embeddings, "a support ticket?").await, ["create_ticket"]);
    assert_eq!(began.elapsed().as_secs(), 2, "the next does not wait at all");
}

#[tokio::test]
async fn the_state_of_an_invoker_is_used_behind_the_two_tools() {
    let embeddings = embeddings(&Coats::default());
    let invoker = Invoker::builder(registry()).state(embeddings).build().unwrap();
    let exported = Bridge::new(&invoker).gateway(SearchGateway::new()).export().unwrap();
    let search = ToolCall::new("search_tools", json!({ "query": "Do I need a coat?", "limit": 1 }));
    for _ in 0..100 {
        let found = exported.invoke(search.clone()).await;
        let found: Value = serde_json::from_str(&found.text()).unwrap();
        if found["tools"][0]["name"] == "get_weather" {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the vectors are never used");
}
