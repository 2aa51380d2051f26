//! Ways to lower the same tools in, their times and how many of their schemas the validator takes out.
//!
//! Every row makes the copy that leaves the tool as it was: all but Toolwright change schemas in place.

use serde_json::Value;
use tokio::runtime::Runtime;
use toolwright::schema::{Dialect, validate_for};
use toolwright_bench::{Comparison, Table, catalogue::ToolSample};

/// The rows of one dialect.
pub struct LoweringComparison<'a> {
    pub dialect: Dialect,
    pub tools: &'a [ToolSample],
    race: Comparison<'a>,
    accepted: Vec<usize>,
}

impl<'a> LoweringComparison<'a> {
    /// Starts without rows.
    pub fn new(dialect: Dialect, tools: &'a [ToolSample], runtime: &'a Runtime) -> Self {
        Self {
            dialect,
            tools,
            race: Comparison::new(dialect.name(), runtime),
            accepted: Vec::new(),
        }
    }

    /// Adds a function from one schema to another.
    pub fn add_per_tool(self, name: &str, lower: impl Fn(&ToolSample) -> Value + 'a) -> Self {
        let tools = self.tools;
        let all = move |_: &mut ()| tools.iter().map(&lower).collect::<Vec<Value>>();
        self.add_row(name, || (), all, Vec::clone)
    }

    /// Adds a function from something made of all tools to something in which all schemas can be read.
    ///
    /// Only the function is timed.
    pub fn add_row<I, O: 'a>(
        mut self,
        name: &str,
        make: impl Fn() -> I + 'a,
        lower: impl Fn(&mut I) -> O + 'a,
        read: impl FnOnce(&O) -> Vec<Value>,
    ) -> Self {
        let schemas = read(&lower(&mut make()));
        assert_eq!(schemas.len(), self.tools.len(), "the schemas of «{name}»");
        let dialect = self.dialect;
        let passes = |schema: &&Value| validate_for(dialect, schema).is_empty();
        self.accepted.push(schemas.iter().filter(passes).count());
        let count = self.tools.len().to_string();
        self.race = self.race.add_with_fresh_input(
            name,
            move || (make(), None),
            // The outcome is kept until the clock has stopped: dropping it is not timed.
            move |(input, outcome)| {
                *outcome = Some(lower(input));
                count.clone()
            },
        );
        self
    }

    /// Times the rows.
    pub fn run(self) -> Table {
        let accepted = self.accepted.iter();
        self.race.run().remarks(accepted.map(|count| format!("{count} accepted")))
    }
}
