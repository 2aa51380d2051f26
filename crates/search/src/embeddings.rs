//! [`ToolEmbeddings`]: lets the searches of a program also find tools by meaning.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};
use toolwright_core::SharedState;

use crate::catalog::ToolCatalog;
use crate::embedder::Embedder;
use crate::search::ToolMatch;
use crate::vector_index::VectorIndex;

/// How many matches by words and by meaning are merged.
pub(crate) const MERGED: usize = 50;

/// How long a search waits for the vector of its question.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the vectors of all tools of a catalogue may take.
const CATALOG_TIMEOUT: Duration = Duration::from_secs(600);

/// How long searches use words alone after a failure.
const PAUSE: Duration = Duration::from_secs(30);

/// An embedder for the searches of a program, and where its vectors are stored.
///
/// As a state of an invoker, it is used by all searches for its tools: those of models, MCP clients, the console and other
/// frameworks. A search never waits long for it: it uses words alone while the vectors of new tools are made in the background, and
/// if the embedder fails or does not answer within 2 seconds. Such a failure is a warning in the log.
///
/// It needs a tokio runtime with a timer.
///
/// # Examples
///
/// ```no_run
/// # use std::sync::Arc;
/// # use toolwright::search::Embedder;
/// # fn run(embedder: Arc<dyn Embedder>, registry: toolwright::Registry) -> Result<(), Box<dyn std::error::Error>> {
/// use toolwright::search::ToolEmbeddings;
/// use toolwright::{Invoker, MemorySharedState};
///
/// let vectors = Arc::new(MemorySharedState::default());
/// let invoker = Invoker::builder(&registry).state(ToolEmbeddings::new(embedder, vectors)).build()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ToolEmbeddings(Arc<EmbeddingsInner>);

struct EmbeddingsInner {
    embedder: Arc<dyn Embedder>,
    stored: Arc<dyn SharedState>,
    failed_at: Mutex<Option<Instant>>,
}

impl ToolEmbeddings {
    /// Uses an embedder, whose vectors are stored in `stored`.
    pub fn new(embedder: impl Embedder, stored: Arc<dyn SharedState>) -> Self {
        let (embedder, failed_at) = (Arc::new(embedder), Mutex::default());
        Self(Arc::new(EmbeddingsInner { embedder, stored, failed_at }))
    }

    /// Returns the tools of a catalogue that are nearest to a question; `None` if there are no vectors now.
    pub(crate) async fn search(
        &self,
        catalog: &Arc<ToolCatalog>,
        question: &str,
    ) -> Option<Vec<ToolMatch>> {
        if self.failed_recently() {
            return None;
        }
        let Some(vectors) = catalog.vectors.ready() else {
            self.embed_in_background(catalog);
            return None;
        };
        match timeout(QUESTION_TIMEOUT, vectors.search(question, MERGED)).await {
            Ok(Ok(found)) => Some(found),
            Ok(Err(error)) => self.fail(&error),
            Err(_) => self.fail(&"the embedder does not answer"),
        }
    }

    fn embed_in_background(&self, catalog: &Arc<ToolCatalog>) {
        let Ok(runtime) = Handle::try_current() else { return };
        if catalog.vectors.begin() {
            let (embeddings, catalog) = (self.clone(), Arc::clone(catalog));
            runtime.spawn(async move { embeddings.embed(&catalog).await });
        }
    }

    /// Makes the vectors of a catalogue's tools that are not stored yet.
    pub(crate) async fn embed(&self, catalog: &ToolCatalog) {
        let inner = &self.0;
        let mut vectors = VectorIndex::new(Arc::clone(&inner.embedder), Arc::clone(&inner.stored));
        let vectors = match timeout(CATALOG_TIMEOUT, vectors.update(catalog.specs())).await {
            Ok(Ok(_)) => Some(Arc::new(vectors)),
            Ok(Err(error)) => self.fail(&error),
            Err(_) => self.fail(&"the embedder takes too long"),
        };
        catalog.vectors.finish(vectors);
    }

    fn failed_recently(&self) -> bool {
        let failed_at = *self.0.failed_at.lock().unwrap_or_else(PoisonError::into_inner);
        failed_at.is_some_and(|failed_at| failed_at.elapsed() < PAUSE)
    }

    fn fail<T>(&self, error: &dyn fmt::Display) -> Option<T> {
        let model = self.0.embedder.model();
        tracing::warn!(%error, model, "tools cannot be found by meaning now; words alone are used");
        *self.0.failed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        None
    }
}

impl fmt::Debug for ToolEmbeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolEmbeddings").field(&self.0.embedder.model()).finish()
    }
}

/// The vectors of a catalogue, once they are made.
#[derive(Default)]
pub(crate) struct VectorSlot(Mutex<SlotState>);

#[derive(Default)]
enum SlotState {
    #[default]
    Empty,
    Making,
    Ready(Arc<VectorIndex>),
}

impl VectorSlot {
    fn ready(&self) -> Option<Arc<VectorIndex>> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            SlotState::Ready(vectors) => Some(Arc::clone(vectors)),
            SlotState::Empty | SlotState::Making => None,
        }
    }

    /// Returns true if the caller has to make them.
    fn begin(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_empty = matches!(*state, SlotState::Empty);
        if is_empty {
            *state = SlotState::Making;
        }
        is_empty
    }

    fn finish(&self, vectors: Option<Arc<VectorIndex>>) {
        let state = vectors.map_or(SlotState::Empty, SlotState::Ready);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}
