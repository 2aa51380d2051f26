//! Selects the model of a program.

use std::sync::Arc;

use toolwright_chat::Model;
use toolwright_core::{Config, Origin};
use toolwright_models::SelectionReason;

use crate::error::{AppError, error_chain};

/// The model, and the reason for its selection, which is shown to the user.
pub(crate) struct SelectedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Why it was selected.
    pub reason: String,
}

impl SelectedModel {
    /// `VENDOR:NAME: reason`, in one line.
    pub(crate) fn summary(&self) -> String {
        format!("{}: {}", self.model.id(), self.reason)
    }
}

/// Selects the model by flags, the settings and the environment.
pub(crate) async fn select_model(config: &Config) -> Result<SelectedModel, AppError> {
    let selected = toolwright_models::from_config(config).await;
    let selected = selected.map_err(|error| match config.origin("model") {
        Some(Origin::Flag { .. }) => AppError::usage(error_chain(&error)),
        _ => AppError::from_error(&error),
    })?;
    let advice = match &selected.reason {
        SelectionReason::ApiKey(_) | SelectionReason::RunningOllama(_) => {
            "; --model chooses another"
        }
        SelectionReason::NoApiKey => "; set OPENAI_API_KEY or pass --model",
        SelectionReason::NoOllamaModel => "; try `ollama pull qwen3`, or pass --model",
        _ => "",
    };
    Ok(SelectedModel { model: selected.model, reason: format!("{}{advice}", selected.reason) })
}

/// The models that a client may select: the selected one, those whose keys are set, and the demo.
pub(crate) fn selectable_models(config: &Config, selected: &SelectedModel) -> Vec<Arc<dyn Model>> {
    let mut models = vec![Arc::clone(&selected.model)];
    for model in toolwright_models::available(config) {
        if !models.iter().any(|known| known.id() == model.id()) {
            models.push(model);
        }
    }
    models
}
