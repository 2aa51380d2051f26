//! Ranks tool specs against a question.
//!
//! An [`Index`] holds the stems of the tools' names, titles, descriptions and parameters. A search scores with BM25, where a
//! word of a name counts more than one of a description, and corrects misspelt words and looks up synonyms.
//!
//! ```
//! use toolwright_core::Tool;
//! use toolwright_search::Index;
//!
//! let tools = [
//!     Tool::builder("get_weather", "Returns the weather in a city.").run(|_, _| "sunny")?,
//!     Tool::builder("get_time", "Returns the current time.").run(|_, _| "12:00")?,
//! ];
//! let index: Index = tools.iter().map(|tool| tool.spec()).collect();
//! let matches = index.search("Do I need an umbrella?", 3);
//! assert_eq!(matches[0].tool, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;
mod index;
mod units;
mod words;

pub use document::quoted_values;
pub use index::{Index, Match, Term};
pub use units::{Unit, unit_named, unit_names};
pub use words::{is_common, is_similar, is_stop_word, stem, stems, synonyms, words};
