//! [`Embedder`]: texts in, vectors out.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use toolwright_core::BoxFuture;

/// Turns texts into vectors, so that texts with similar meanings have similar vectors.
///
/// `toolwright-models` implements it for the embedding endpoints of OpenAI's API and of Ollama.
///
/// # Examples
///
/// An embedder for a test, which counts letters:
///
/// ```
/// use toolwright::BoxFuture;
/// use toolwright::search::{EmbedError, Embedder};
///
/// struct Letters;
///
/// impl Embedder for Letters {
///     fn model(&self) -> &str {
///         "letters"
///     }
///
///     fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
///         Box::pin(async move {
///             let count = |text: &String, letter| text.matches(letter).count() as f32;
///             let vector = |text| ('a'..='z').map(|letter| count(text, letter)).collect();
///             Ok(texts.iter().map(vector).collect())
///         })
///     }
/// }
/// ```
pub trait Embedder: Send + Sync + 'static {
    /// Returns the name of the model: vectors of different models cannot be compared.
    fn model(&self) -> &str;

    /// Returns a vector for each text, all of the same length.
    ///
    /// # Errors
    ///
    /// The model cannot be reached, or rejects the texts.
    fn embed<'a>(&'a self, texts: &'a [String])
    -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
}

impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn model(&self) -> &str {
        (**self).model()
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        (**self).embed(texts)
    }
}

/// An error of an [`Embedder`]: there are no vectors for these texts.
#[derive(Debug)]
pub struct EmbedError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl EmbedError {
    /// Makes an error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Adds the source of the error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for EmbedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
