//! Ranks tool specs against a question.
//!
//! A [`ToolIndex`] holds the stems of the tools' names, titles, descriptions, parameters, bundles and tags. A search scores with
//! BM25, where a word of a name counts more than one of a description, corrects misspelt words and looks up synonyms.
//!
//! A [`Gateway`] offers a model or an MCP client two tools in place of a [`ToolCatalog`]: one that searches it, one that calls.
//! [`SearchGateway`] exports them to other frameworks.
//! A [`VectorIndex`] finds tools by meaning, with the vectors of an [`Embedder`]; [`merge_by_rank`] combines the two.
//! [`ToolEmbeddings`] does so in all searches of a program.
//!
//! The functions about single words ([`stem`], [`synonyms`], [`unit_named`] and their like) are for the demo model.

mod english;
mod options;
mod stem;
mod units;
mod words;

mod document;
mod field;
mod lexicon;
mod terms;

mod tool_index;

mod diversity;
mod question;
mod rank;
mod search;
mod spelling;

mod catalog;
mod gateway;

mod embedder;
mod embeddings;
mod merge;
mod vector;
mod vector_index;

pub use catalog::{CatalogCache, ToolCatalog};
pub use document::ToolDocument;
pub use embedder::{EmbedError, Embedder};
pub use embeddings::ToolEmbeddings;
pub use english::{is_common, is_stop_word, synonyms};
pub use gateway::export::SearchGateway;
pub use gateway::found::FoundTool;
pub use gateway::{Gateway, NamedCall, ToolQuery, tool_named};
pub use merge::merge_by_rank;
pub use options::quoted_values;
pub use rank::{Match, Term};
pub use search::ToolMatch;
pub use spelling::is_similar;
pub use stem::{stem, stems};
pub use tool_index::ToolIndex;
pub use units::{Unit, unit_named, unit_names};
pub use vector_index::VectorIndex;
pub use words::words;

/// The examples of the page about this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/many-tools.md")]
struct ManyTools;
