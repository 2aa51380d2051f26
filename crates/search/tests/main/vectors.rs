//! Search by vectors, with an embedder that counts letters.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use toolwright_core::{BoxFuture, MemorySharedState, Tool};
use toolwright_search::{EmbedError, Embedder, ToolIndex, VectorIndex, merge_by_rank};

/// Counts letters, and the texts it is given; fails from the `fails_after`th request on.
#[derive(Default)]
struct Letters {
    texts: Arc<Mutex<Vec<String>>>,
    requests: AtomicUsize,
    fails_after: Option<usize>,
}

impl Embedder for Letters {
    fn model(&self) -> &str {
        "letters"
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let request = self.requests.fetch_add(1, Ordering::Relaxed);
            if self.fails_after.is_some_and(|most| request >= most) {
                return Err(EmbedError::new("out of reach"));
            }
            self.texts.lock().unwrap().extend_from_slice(texts);
            let count = |text: &String, letter| text.matches(letter).count() as f32;
            let vector = |text| ('a'..='z').map(|letter| count(text, letter)).collect();
            Ok(texts.iter().map(vector).collect())
        })
    }
}

fn tool(name: &str, description: &str) -> Tool {
    Tool::builder(name, description).run(|_, _| "done").unwrap()
}

fn tools() -> Vec<Tool> {
    vec![tool("zzz", "zz zz zz."), tool("aaa", "aa aa aa."), tool("bbb", "bb ab bb.")]
}

#[tokio::test]
async fn the_nearest_tool_comes_first() {
    let mut index = VectorIndex::new(Letters::default(), Arc::new(MemorySharedState::default()));
    let tools = tools();
    assert_eq!(index.update(tools.iter().map(Tool::spec)).await.unwrap(), 3);
    let found = index.search("a b b b", 5).await.unwrap();
    let names: Vec<&str> = found.iter().map(|found| &*found.name).collect();
    assert_eq!(names, ["bbb", "aaa"]);
    assert!(index.search(" ", 5).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_vector_is_made_once_for_each_text() {
    let state = Arc::new(MemorySharedState::default());
    let embedder = Letters::default();
    let texts = Arc::clone(&embedder.texts);
    let mut index = VectorIndex::new(embedder, state.clone());
    let mut tools = tools();
    index.update(tools.iter().map(Tool::spec)).await.unwrap();
    tools[0] = tool("zzz", "Something else.");
    assert_eq!(index.update(tools.iter().map(Tool::spec)).await.unwrap(), 1);
    assert_eq!(texts.lock().unwrap().len(), 4);

    let mut restarted = VectorIndex::new(Letters::default(), state);
    assert_eq!(restarted.update(tools.iter().map(Tool::spec)).await.unwrap(), 0);
    assert_eq!(restarted.search("aaa", 1).await.unwrap(), index.search("aaa", 1).await.unwrap());
}

#[tokio::test]
async fn stored_vectors_of_many_tools_are_listed_at_once() {
    let state = Arc::new(MemorySharedState::default());
    let tools: Vec<Tool> =
        (0..100).map(|n| tool(&format!("tool_{n}"), &"ab ".repeat(n + 1))).collect();
    let specs = || tools.iter().map(Tool::spec);
    let mut index = VectorIndex::new(Letters::default(), state.clone());
    assert_eq!(index.update(specs()).await.unwrap(), 100);
    let mut restarted = VectorIndex::new(Letters::default(), state);
    assert_eq!(restarted.update(specs()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_tool_that_is_not_updated_is_removed() {
    let mut index = VectorIndex::new(Letters::default(), Arc::new(MemorySharedState::default()));
    let tools = tools();
    index.update(tools.iter().map(Tool::spec)).await.unwrap();
    index.update(tools.iter().take(1).map(Tool::spec)).await.unwrap();
    assert!(index.search("aaa", 5).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_embedder_that_fails_keeps_what_was_made() {
    let tools: Vec<Tool> = (0..100).map(|n| tool(&format!("tool_{n}"), "abc")).collect();
    let state = Arc::new(MemorySharedState::default());
    let failing = Letters { fails_after: Some(1), ..Letters::default() };
    let mut index = VectorIndex::new(failing, state.clone());
    let error = index.update(tools.iter().map(Tool::spec)).await.unwrap_err();
    assert_eq!(error.to_string(), "out of reach");
    let mut index = VectorIndex::new(Letters::default(), state);
    assert_eq!(index.update(tools.iter().map(Tool::spec)).await.unwrap(), 36);
}

#[test]
fn a_tool_in_both_lists_comes_before_one_in_one() {
    let tools = tools();
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    let (one, other) = (index.search("aaa bbb", 5), index.search("zzz aaa", 5));
    let merged = merge_by_rank(&one, &other, 2);
    assert_eq!((&*merged[0].name, merged.len()), ("aaa", 2));
}
