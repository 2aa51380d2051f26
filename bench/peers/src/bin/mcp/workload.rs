//! What is asked of every server.

use serde_json::{Value, json};

/// How long the text of `page` is.
pub const PAGE_BYTES: usize = 10_000;

/// What `convert_temperature` returns.
pub const TEMPERATURE: &str = "100.0C = 212.0F";

/// One kind of request.
pub struct Workload {
    pub name: &'static str,
    pub title: &'static str,
    /// The tool that is called; without one, the tools are listed.
    pub tool: Option<&'static str>,
    /// How many tools the server has.
    pub tools: usize,
    /// How many are under way at once: that many connections, or that many lines in one pipe.
    pub concurrency: usize,
}

pub const WORKLOADS: [Workload; 5] = [
    Workload {
        name: "add",
        title: "`tools/call` of add(2, 3)",
        tool: Some("add"),
        tools: 100,
        concurrency: 8,
    },
    Workload {
        name: "convert",
        title: "`tools/call` of the sample's convert_temperature(100, C)",
        tool: Some("convert_temperature"),
        tools: 100,
        concurrency: 8,
    },
    Workload {
        name: "page",
        title: "`tools/call` with a result of 10 kB",
        tool: Some("page"),
        tools: 100,
        concurrency: 8,
    },
    Workload {
        name: "list-100",
        title: "`tools/list` of 100 tools",
        tool: None,
        tools: 100,
        concurrency: 8,
    },
    Workload {
        name: "list-10000",
        title: "`tools/list` of 10,000 tools, all pages",
        tool: None,
        tools: 10_000,
        concurrency: 1,
    },
];

pub fn find_workload(name: &str) -> &'static Workload {
    WORKLOADS.iter().find(|load| load.name == name).unwrap()
}

impl Workload {
    pub fn method(&self) -> &'static str {
        match self.tool {
            Some(_) => "tools/call",
            None => "tools/list",
        }
    }

    /// The parameters of the first request, or of the page that a cursor leads to.
    pub fn params(&self, cursor: Option<&str>) -> Value {
        match (self.tool, cursor) {
            (Some("add"), _) => json!({ "name": "add", "arguments": { "a": 2, "b": 3 } }),
            (Some("convert_temperature"), _) => json!({
                "name": "convert_temperature", "arguments": { "value": 100, "from_unit": "C" },
            }),
            (Some(tool), _) => json!({ "name": tool, "arguments": {} }),
            (None, Some(cursor)) => json!({ "cursor": cursor }),
            (None, None) => json!({}),
        }
    }

    /// Sees that the answers, one per page, are what was asked for.
    pub fn assert_results(&self, who: &str, results: &[Value]) {
        let right = match self.tool {
            Some(tool) => {
                let text = results[0]["content"][0]["text"].as_str().unwrap_or_default();
                match tool {
                    "add" => text == "5",
                    "convert_temperature" => text == TEMPERATURE,
                    _ => text.len() == PAGE_BYTES,
                }
            }
            None => {
                let tools = results.iter().map(|page| page["tools"].as_array());
                tools.map(|page| page.map_or(0, Vec::len)).sum::<usize>() == self.tools
            }
        };
        assert!(right, "{who} answered «{}» with {results:?}", self.name);
    }
}
