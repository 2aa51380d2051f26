//! [`VectorIndex`]: finds tools by the meaning of a question.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use toolwright_core::SharedState;

use crate::document::ToolDocument;
use crate::embedder::{EmbedError, Embedder};
use crate::search::ToolMatch;
use crate::terms::head;
use crate::vector::Vector;

/// The space of the vectors in the shared state.
const SPACE: &str = "tool_vectors";

/// How long a vector is stored: one of a tool that no longer exists is not stored for ever.
const STORED_FOR: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// From how many missing vectors on, all stored ones are read at once.
const LIST_FROM: usize = 32;
const MAX_LISTED: usize = 100_000;

/// How many texts are embedded in one request.
const BATCH: usize = 64;

/// How much of a question is embedded, in bytes.
const MAX_QUESTION: usize = 8_192;

/// The vectors of tools: finds those whose specs are about the same as a question, even without a common word.
///
/// The vector of a spec is made once and stored in a [`SharedState`] by the fingerprint of its text, so that neither another
/// node nor the next start makes it again: with [`MemorySharedState`](toolwright_core::MemorySharedState) for the life of the
/// process, with that of a store for 180 days. [`merge_by_rank`](crate::merge_by_rank) combines its matches with those of a
/// [`ToolIndex`](crate::ToolIndex).
///
/// # Examples
///
/// ```
/// # use toolwright::BoxFuture;
/// # use toolwright::search::{EmbedError, Embedder};
/// # struct Letters;
/// # impl Embedder for Letters {
/// #     fn model(&self) -> &str { "letters" }
/// #     fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
/// #         Box::pin(async move {
/// #             let count = |text: &String, letter| text.matches(letter).count() as f32;
/// #             let vector = |text| ('a'..='z').map(|letter| count(text, letter)).collect();
/// #             Ok(texts.iter().map(vector).collect())
/// #         })
/// #     }
/// # }
/// use std::sync::Arc;
///
/// use toolwright::{MemorySharedState, Tool};
/// use toolwright::search::{ToolIndex, VectorIndex, merge_by_rank};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let weather = Tool::builder("get_weather", "Returns the weather in a city.").run(|_, _| "sunny")?;
/// let ticket = Tool::builder("create_ticket", "Opens a support ticket.").run(|_, _| "done")?;
/// let specs = [weather.spec(), ticket.spec()];
///
/// let index = ToolIndex::new(specs);
/// let mut vectors = VectorIndex::new(Letters, Arc::new(MemorySharedState::default()));
/// vectors.update(specs).await?;
///
/// let question = "the weather in Rome";
/// let by_meaning = vectors.search(question, 50).await?;
/// let found = merge_by_rank(&index.search(question, 50), &by_meaning, 5);
/// assert_eq!(&*found[0].name, "get_weather");
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VectorIndex {
    embedder: Arc<dyn Embedder>,
    stored: Arc<dyn SharedState>,
    tools: BTreeMap<Arc<str>, EmbeddedTool>,
}

struct EmbeddedTool {
    fingerprint: String,
    vector: Vector,
}

impl VectorIndex {
    /// Makes an index without tools, whose vectors are stored in `stored`.
    pub fn new(embedder: impl Embedder, stored: Arc<dyn SharedState>) -> Self {
        Self { embedder: Arc::new(embedder), stored, tools: BTreeMap::new() }
    }

    /// Makes these the tools of the index: all others are removed. Only the vectors of specs that were never seen are made;
    /// returns their number.
    ///
    /// # Errors
    ///
    /// The embedder fails. The index has the tools whose vectors were made until then; a later update makes the others.
    pub async fn update<'a>(
        &mut self,
        tools: impl IntoIterator<Item = impl Into<ToolDocument<'a>>>,
    ) -> Result<usize, EmbedError> {
        let model = self.embedder.model().to_owned();
        let mut kept = BTreeMap::new();
        let mut missing: Vec<(Arc<str>, String, String)> = Vec::new();
        for tool in tools {
            let tool: ToolDocument<'_> = tool.into();
            let text = tool.embedded_text();
            let fingerprint = fingerprint(&model, &text);
            match self.tools.remove(tool.name) {
                Some(known) if known.fingerprint == fingerprint => {
                    kept.insert(Arc::from(tool.name), known);
                }
                _ => missing.push((Arc::from(tool.name), fingerprint, text)),
            }
        }
        self.tools = kept;
        let stored = self.load(&model, &missing).await;
        missing.retain(|(name, fingerprint, _)| {
            let Some(vector) = stored.get(fingerprint.as_str()) else { return true };
            let tool = EmbeddedTool { fingerprint: fingerprint.clone(), vector: vector.clone() };
            self.tools.insert(Arc::clone(name), tool);
            false
        });
        for batch in missing.chunks(BATCH) {
            self.embed(batch).await?;
        }
        Ok(missing.len())
    }

    /// Returns the tools whose specs are nearest to a question, the nearest first; tools at the same distance by name. The
    /// score is the cosine of the angle.
    ///
    /// # Errors
    ///
    /// The embedder fails.
    pub async fn search(&self, question: &str, limit: usize) -> Result<Vec<ToolMatch>, EmbedError> {
        let question = head(question.trim(), MAX_QUESTION);
        if self.tools.is_empty() || question.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.embedder.embed(&[question.to_owned()]).await?;
        let Some(vector) = vectors.first().and_then(|numbers| Vector::new(numbers)) else {
            return Err(EmbedError::new("the embedder returned no vector for the question"));
        };
        let matches = self.tools.iter().map(|(name, tool)| ToolMatch {
            name: Arc::clone(name),
            score: tool.vector.cosine(&vector),
        });
        let mut matches: Vec<ToolMatch> = matches.filter(|found| found.score > 0.0).collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
        matches.truncate(limit);
        Ok(matches)
    }

    /// Returns the stored vectors by fingerprint. If the state cannot be read, vectors are made again.
    async fn load(
        &self,
        model: &str,
        missing: &[(Arc<str>, String, String)],
    ) -> HashMap<String, Vector> {
        let mut found = HashMap::new();
        if missing.len() >= LIST_FROM {
            let prefix = key_prefix(model);
            let listed = self.stored.list(SPACE, &prefix, MAX_LISTED).await;
            let listed = listed.inspect_err(|error| warn("read", error)).unwrap_or_default();
            found.extend(
                listed.into_iter().filter_map(|(key, text)| Some((key, Vector::from_text(&text)?))),
            );
            return found;
        }
        for (_, fingerprint, _) in missing {
            let text = self.stored.get(SPACE, fingerprint).await;
            let text = text.inspect_err(|error| warn("read", error)).ok().flatten();
            let vector = text.and_then(|text| Vector::from_text(&text));
            found.extend(vector.map(|vector| (fingerprint.clone(), vector)));
        }
        found
    }

    /// Makes and stores the vectors of some tools.
    async fn embed(&mut self, batch: &[(Arc<str>, String, String)]) -> Result<(), EmbedError> {
        let texts: Vec<String> = batch.iter().map(|(.., text)| text.clone()).collect();
        let vectors = self.embedder.embed(&texts).await?;
        if vectors.len() != texts.len() {
            let message = format!(
                "the embedder returned {} vectors for {} texts",
                vectors.len(),
                texts.len()
            );
            return Err(EmbedError::new(message));
        }
        for ((name, fingerprint, _), numbers) in batch.iter().zip(vectors) {
            let Some(vector) = Vector::new(&numbers) else {
                return Err(EmbedError::new(format!("the vector of `{name}` has no direction")));
            };
            let text = vector.to_text();
            let stored = self.stored.put(SPACE, fingerprint, &text, Some(STORED_FOR));
            if let Err(error) = stored.await {
                warn("stored", &error);
            }
            let tool = EmbeddedTool { fingerprint: fingerprint.clone(), vector };
            self.tools.insert(Arc::clone(name), tool);
        }
        Ok(())
    }
}

impl fmt::Debug for VectorIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorIndex")
            .field("model", &self.embedder.model())
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

fn warn(what: &str, error: &toolwright_core::SharedStateError) {
    tracing::warn!(%error, "a vector could not be {what}; it is made again");
}

/// Returns the key of a text's vector: a prefix for the model, then the digest of the text.
fn fingerprint(model: &str, text: &str) -> String {
    format!("{}{}", key_prefix(model), HEXLOWER.encode(&Sha256::digest(text)))
}

fn key_prefix(model: &str) -> String {
    let digest = HEXLOWER.encode(&Sha256::digest(model));
    format!("{}/", head(&digest, 16))
}
