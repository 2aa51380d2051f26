//! [`ToolIndex`]: the inverted index over the specs of tools.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::document::ToolDocument;
use crate::field::FieldCounts;
use crate::lexicon::Lexicon;
use crate::terms::ToolTerms;

/// An index of tools by the words of their names, titles, descriptions and parameters.
///
/// It is in memory and incremental: inserting, replacing or removing one tool leaves the others alone. A tool is known by its
/// name. Searching takes `&self`, so that an index can be shared between threads.
///
/// # Examples
///
/// ```
/// use toolwright::Tool;
/// use toolwright::search::ToolIndex;
///
/// let weather = Tool::builder("get_weather", "Returns the weather in a city.").run(|_, _| "sunny")?;
/// let ticket = Tool::builder("create_ticket", "Opens a support ticket.").run(|_, _| "done")?;
///
/// let mut index = ToolIndex::new([weather.spec(), ticket.spec()]);
/// let found = index.search("Will it rain? How is the wether?", 5);
/// assert_eq!(&*found[0].name, "get_weather");
///
/// index.remove("get_weather");
/// assert!(index.search("How is the weather?", 5).is_empty());
/// # Ok::<(), toolwright::DefineError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolIndex {
    /// The tools by position; the position of a removed tool is reused.
    pub(crate) tools: Vec<Option<IndexedTool>>,
    free_positions: Vec<usize>,
    positions: HashMap<Arc<str>, usize, ahash::RandomState>,
    /// The tools of each stem, ordered by position.
    pub(crate) postings: HashMap<Arc<str>, Vec<Posting>, ahash::RandomState>,
    /// The stems in order, to look for misspelt words.
    pub(crate) vocabulary: BTreeSet<Arc<str>>,
    /// The sums of the tools' lengths.
    pub(crate) total_lengths: FieldCounts<u64>,
    bytes: usize,
    lexicon: Lexicon,
}

/// A tool of an index.
#[derive(Clone, Debug)]
pub(crate) struct IndexedTool {
    pub(crate) name: Arc<str>,
    /// Its stems, so that their postings are found when it is removed.
    stems: Box<[Arc<str>]>,
    /// How many words each field of its spec has.
    pub(crate) lengths: FieldCounts<u16>,
    bytes: usize,
}

/// One stem of one tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    pub(crate) tool: u32,
    pub(crate) counts: FieldCounts<u8>,
}

impl ToolIndex {
    /// Makes an index of these tools: specs, entries of a registry's snapshot, or imported definitions. Of two with the same
    /// name, the last counts.
    pub fn new<'a>(tools: impl IntoIterator<Item = impl Into<ToolDocument<'a>>>) -> Self {
        let mut index = Self::default();
        for tool in tools {
            index.insert(tool);
        }
        index
    }

    /// Inserts a tool, or replaces the one with its name; returns its position.
    ///
    /// Positions count from 0 in the order of insertion; a replaced tool keeps its position, that of a removed one is reused.
    pub fn insert<'a>(&mut self, tool: impl Into<ToolDocument<'a>>) -> usize {
        let document = tool.into();
        self.remove(document.name);
        let terms = ToolTerms::new(&document, &mut self.lexicon);
        let position = self.free_positions.pop().unwrap_or(self.tools.len());
        let name: Arc<str> = Arc::from(document.name);
        let mut stems = Vec::with_capacity(terms.counts.len());
        // A position beyond the range is never stored: there is no memory for so many tools.
        let number = u32::try_from(position).unwrap_or(u32::MAX);
        for (stem, counts) in terms.counts {
            let posting = Posting { tool: number, counts };
            match self.postings.get_mut(&stem) {
                Some(postings) => {
                    let at = postings.partition_point(|posting| posting.tool < number);
                    postings.insert(at, posting);
                }
                None => {
                    self.vocabulary.insert(Arc::clone(&stem));
                    self.postings.insert(Arc::clone(&stem), vec![posting]);
                }
            }
            stems.push(stem);
        }
        for (total, length) in self.total_lengths.0.iter_mut().zip(terms.lengths.0) {
            *total += u64::from(length);
        }
        self.positions.insert(Arc::clone(&name), position);
        self.bytes += terms.bytes;
        let stems = stems.into_boxed_slice();
        let tool = IndexedTool { name, stems, lengths: terms.lengths, bytes: terms.bytes };
        match self.tools.get_mut(position) {
            Some(slot) => *slot = Some(tool),
            None => self.tools.push(Some(tool)),
        }
        position
    }

    /// Removes a tool; returns false if there is none with this name.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(position) = self.positions.remove(name) else { return false };
        let Some(tool) = self.tools.get_mut(position).and_then(Option::take) else { return false };
        for stem in &tool.stems {
            let Some(postings) = self.postings.get_mut(stem) else { continue };
            if let Ok(at) =
                postings.binary_search_by_key(&position, |posting| posting.tool as usize)
            {
                postings.remove(at);
            }
            if postings.is_empty() {
                self.postings.remove(stem);
                self.vocabulary.remove(stem);
            }
        }
        for (total, length) in self.total_lengths.0.iter_mut().zip(tool.lengths.0) {
            *total -= u64::from(length);
        }
        self.bytes -= tool.bytes;
        self.free_positions.push(position);
        true
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns true if there is no tool.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns true if there is a tool with this name.
    pub fn contains(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    /// Returns true if the spec of any tool has a word with this stem.
    pub fn contains_stem(&self, stem: &str) -> bool {
        self.postings.contains_key(stem)
    }

    /// Returns the size of the indexed text in bytes.
    pub fn text_len(&self) -> usize {
        self.bytes
    }
}
