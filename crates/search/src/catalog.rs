//! [`ToolCatalog`]: the tools that one caller may use, with their index.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use toolwright_core::schema::Dialect;
use toolwright_core::{RegisteredTool, ToolName, ToolResult, ToolSpec};

use crate::embeddings::{MERGED, ToolEmbeddings, VectorSlot};
use crate::gateway::ToolQuery;
use crate::gateway::found::FoundTool;
use crate::merge::merge_by_rank;
use crate::search::ToolMatch;
use crate::tool_index::ToolIndex;

/// How many catalogues a cache keeps: callers of one server mostly share a few views.
const MAX_CATALOGS: usize = 16;

/// Tools and their index. It has no tool that its caller may not use, so neither does a search.
pub struct ToolCatalog {
    tools: Arc<[RegisteredTool]>,
    index: ToolIndex,
    positions: HashMap<ToolName, usize>,
    pub(crate) vectors: VectorSlot,
}

impl ToolCatalog {
    /// Indexes these tools.
    pub fn new(tools: Arc<[RegisteredTool]>) -> Self {
        let index = ToolIndex::new(tools.iter().map(RegisteredTool::spec));
        let names = tools.iter().map(|tool| tool.spec().name.clone());
        let positions = names.zip(0..).collect();
        Self { tools, index, positions, vectors: VectorSlot::default() }
    }

    /// Returns the tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        self.tools.get(*self.positions.get(name)?)
    }

    /// Returns the tools that match a question best, the best first.
    pub fn search(&self, question: &str, limit: usize) -> Vec<&RegisteredTool> {
        self.search_scored(question, limit).into_iter().map(|(tool, _)| tool).collect()
    }

    /// Returns the tools that match a question best with their scores, the best first. Scores are comparable within one search
    /// only.
    pub fn search_scored(&self, question: &str, limit: usize) -> Vec<(&RegisteredTool, f32)> {
        self.matched_tools(self.index.search(question, limit))
    }

    fn matched_tools(&self, matches: Vec<ToolMatch>) -> Vec<(&RegisteredTool, f32)> {
        let matches = matches.into_iter();
        matches.filter_map(|found| Some((self.get(&found.name)?, found.score))).collect()
    }

    pub(crate) fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(RegisteredTool::spec)
    }
}

impl fmt::Debug for ToolCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCatalog").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

/// The catalogues of recent searches; the same tools are indexed once, whichever snapshot they are from.
#[derive(Debug, Default)]
pub struct CatalogCache(Mutex<Vec<(u64, Arc<ToolCatalog>)>>);

impl CatalogCache {
    /// Returns those of these tools that match a question best with their scores, the best first: by words, and also by meaning if
    /// there are embeddings with vectors of all the tools.
    pub async fn search(
        &self,
        tools: &Arc<[RegisteredTool]>,
        question: &str,
        limit: usize,
        embeddings: Option<&ToolEmbeddings>,
    ) -> Vec<(RegisteredTool, f32)> {
        let catalog = self.catalog(tools);
        let by_meaning = match embeddings {
            Some(embeddings) => embeddings.search(&catalog, question).await,
            None => None,
        };
        let found = match by_meaning {
            Some(by_meaning) => {
                let by_words = catalog.index.search(question, limit.max(MERGED));
                catalog.matched_tools(merge_by_rank(&by_words, &by_meaning, limit))
            }
            None => catalog.search_scored(question, limit),
        };
        found.into_iter().map(|(tool, score)| (tool.clone(), score)).collect()
    }

    /// Makes the vectors of these tools now, so that the first search has them; a failure is a warning.
    pub async fn embed(&self, tools: &Arc<[RegisteredTool]>, embeddings: &ToolEmbeddings) {
        embeddings.embed(&self.catalog(tools)).await;
    }

    /// Returns the result of a call of `search_tools` among these tools, for a model of this dialect.
    pub async fn answer(
        &self,
        tools: &Arc<[RegisteredTool]>,
        query: &ToolQuery,
        dialect: Dialect,
    ) -> ToolResult {
        let embeddings = query.embeddings.as_deref();
        let found = self.search(tools, &query.text, query.limit, embeddings).await;
        let found: Vec<&RegisteredTool> = found.iter().map(|(tool, _)| tool).collect();
        FoundTool::result(&found, dialect)
    }

    /// Returns the catalogue of these tools, from the cache or indexed now.
    pub fn catalog(&self, tools: &Arc<[RegisteredTool]>) -> Arc<ToolCatalog> {
        let key = content_key(tools);
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cached = lock();
        if let Some(at) = cached.iter().position(|(known, _)| *known == key) {
            let found = cached.remove(at);
            let catalog = Arc::clone(&found.1);
            cached.push(found);
            return catalog;
        }
        // Indexed without the lock: others may search meanwhile.
        drop(cached);
        let catalog = Arc::new(ToolCatalog::new(Arc::clone(tools)));
        let mut cached = lock();
        let surplus = (cached.len() + 1).saturating_sub(MAX_CATALOGS);
        cached.drain(..surplus);
        cached.push((key, Arc::clone(&catalog)));
        catalog
    }
}

/// Returns a hash of the names, the fingerprints, and the words for search, which these do not contain.
fn content_key(tools: &[RegisteredTool]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for tool in tools {
        tool.spec().name.as_str().hash(&mut hasher);
        tool.tool().fingerprint().hash(&mut hasher);
        (&tool.spec().tags, &tool.spec().questions).hash(&mut hasher);
    }
    hasher.finish()
}
