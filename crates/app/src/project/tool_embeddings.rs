//! The setting `tools.search_embeddings`: the model whose vectors let searches find tools by meaning.

use std::sync::Arc;

use toolwright_core::{Config, SharedState};
use toolwright_models::Vendor;
use toolwright_search::{Embedder, ToolEmbeddings};

use crate::error::{AppError, error_chain};

const KEY: &str = "tools.search_embeddings";

/// Returns true if the settings name a model.
pub(crate) fn is_configured(config: &Config) -> bool {
    config.origin(KEY).is_some()
}

/// Makes the embeddings of the model that the settings name; nothing is sent yet.
pub(crate) fn from_config(
    config: &Config,
    vectors: Arc<dyn SharedState>,
) -> Result<Option<ToolEmbeddings>, AppError> {
    let Some(name) = config.get_optional::<String>(KEY)? else { return Ok(None) };
    let embedder = build_embedder(&name, config)
        .map_err(|message| AppError::new(format!("{KEY} = \"{name}\": {message}")))?;
    Ok(Some(ToolEmbeddings::new(embedder, vectors)))
}

fn build_embedder(name: &str, config: &Config) -> Result<Arc<dyn Embedder>, String> {
    let (vendor, model) = name.split_once(':').unwrap_or((name, ""));
    if model.trim().is_empty() {
        return Err("write VENDOR:MODEL, as in \"ollama:all-minilm\"".to_owned());
    }
    let vendor = Vendor::by_name(vendor.trim()).map_err(|error| error_chain(&error))?;
    let embedder = vendor.model(model.trim()).config(config).build_embedder();
    embedder.map_err(|error| error_chain(&error))
}
