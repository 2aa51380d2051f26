//! [`ToolPlan`]: the tools of one request, and the conversion of their calls.

use std::sync::OnceLock;

use serde::Serialize;
use serde_json::Value;
use toolwright_schema::{Dialect, InputLimits, Lowered, Schema, Tape, repair};

use super::candidate::CandidateTool;
use crate::call::{Arguments, ToolCall};

/// The tools of one request.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    pub(super) tools: Vec<PlannedTool>,
    pub(super) omitted: Vec<OmittedTool>,
    pub(super) json: String,
    /// [`json`](Self::json), parsed when the first request needs it.
    pub(super) definitions: OnceLock<Vec<Value>>,
    /// The definitions of the deferred tools, parsed when the first request needs them.
    pub(super) deferred_definitions: OnceLock<Vec<Value>>,
    pub(super) search_tool: Option<String>,
    pub(super) custom_tools: bool,
    pub(super) namespaces: bool,
}

/// A tool of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedTool {
    /// The name in the registry.
    pub name: String,
    /// The name the model sees.
    pub wire_name: String,
    /// The dialect of its schema: the planner's, or the strict one if the tool is in strict mode.
    pub dialect: Dialect,
    /// The estimated number of tokens of its definition.
    pub tokens: usize,
    /// What the tool does, and constraints that its schema cannot express.
    pub description: String,
    /// The name of its bundle; empty if it has none.
    pub bundle: String,
    pub(super) unbounded_schema: Option<String>,
    /// The definition as JSON text, if the tool is deferred.
    pub(super) deferred_definition: Option<String>,
    /// The parameter that has the text, if it is defined as a custom tool.
    pub(super) custom_param: Option<String>,
    pub(super) schema: Schema,
}

/// A tool that is not part of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OmittedTool {
    /// The name of the tool.
    pub name: String,
    /// Why it is omitted.
    pub reason: String,
}

impl ToolPlan {
    /// Returns the `tools` array, exactly as it is sent.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns the elements of the `tools` array: of a plan that several requests share, it is parsed once.
    pub fn definitions(&self) -> &[Value] {
        // The plan's own JSON is always valid.
        self.definitions.get_or_init(|| serde_json::from_str(&self.json).unwrap_or_default())
    }

    /// Returns the definitions of the deferred tools, each marked as such: where they go depends on the provider.
    pub fn deferred_definitions(&self) -> &[Value] {
        let parse = || self.tools.iter().filter_map(PlannedTool::deferred_definition).collect();
        self.deferred_definitions.get_or_init(parse)
    }

    /// Returns the name of the tool that searches for the deferred ones.
    pub fn search_tool(&self) -> Option<&str> {
        self.search_tool.as_deref()
    }

    /// Returns the tools in the order of the array, and the deferred ones.
    pub fn tools(&self) -> &[PlannedTool] {
        &self.tools
    }

    /// Returns the tools that did not fit, with the reasons.
    pub fn omitted(&self) -> &[OmittedTool] {
        &self.omitted
    }

    /// Returns the estimated number of tokens of all definitions in the array.
    pub fn tokens(&self) -> usize {
        self.tools.iter().filter(|tool| !tool.is_deferred()).map(|tool| tool.tokens).sum()
    }

    /// Returns the name that the model sees for a tool.
    pub fn wire_name(&self, name: &str) -> Option<&str> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        Some(&tool.wire_name)
    }

    /// Returns true if custom tools are defined as such, and not as functions.
    pub fn has_custom_tools(&self) -> bool {
        self.custom_tools
    }

    /// Returns true if deferred tools are loaded in namespaces, one for each bundle.
    pub fn has_namespaces(&self) -> bool {
        self.namespaces
    }

    /// Returns the parameter that has the text of a custom tool, by the name that the model sees; `None` if it is a function.
    pub fn custom_param(&self, wire_name: &str) -> Option<&str> {
        let mut tools = self.tools.iter();
        tools.find(|tool| tool.wire_name == wire_name)?.custom_param.as_deref()
    }

    /// Returns the text of an earlier call, as [`lower`](Self::lower) returned it, of a tool that is a custom tool in this request.
    pub fn custom_input(&self, call: &ToolCall) -> Option<String> {
        let param = self.custom_param(call.name.as_str())?;
        let arguments = parse_arguments(&call.arguments)?;
        Some(arguments.get(param)?.as_str()?.to_owned())
    }

    /// Converts a call of the model to the tool's own name and schema.
    ///
    /// A call that cannot be converted is returned unchanged: invoking it returns the error.
    #[must_use]
    pub fn lift(&self, call: ToolCall) -> ToolCall {
        let mut tools = self.tools.iter();
        match tools.find(|tool| tool.wire_name == call.name.as_str()) {
            Some(tool) => tool.convert_call(call, &tool.name, Lowered::lift_arguments),
            None => call,
        }
    }

    /// Converts an earlier call to the names and schemas of this request.
    #[must_use]
    pub fn lower(&self, call: ToolCall) -> ToolCall {
        let mut tools = self.tools.iter();
        match tools.find(|tool| tool.name == call.name.as_str()) {
            Some(tool) => tool.convert_call(call, &tool.wire_name, Lowered::lower_arguments),
            None => call,
        }
    }

    pub(super) fn omit(&mut self, tool: &CandidateTool<'_>, reason: String) {
        self.omitted.push(OmittedTool { name: tool.name.to_owned(), reason });
    }
}

impl PlannedTool {
    /// Returns the schema of the arguments that the model sees.
    pub fn parameters(&self) -> Value {
        match &self.unbounded_schema {
            Some(text) => serde_json::from_str(text).unwrap_or_default(),
            None => self.lowered().map(|lowered| lowered.schema().clone()).unwrap_or_default(),
        }
    }

    /// Returns true if the provider loads the definition only after a search has found the tool.
    pub fn is_deferred(&self) -> bool {
        self.deferred_definition.is_some()
    }

    /// Returns the definition of a deferred tool, marked as such.
    pub fn deferred_definition(&self) -> Option<Value> {
        serde_json::from_str(self.deferred_definition.as_deref()?).ok()
    }

    /// Returns the lowered schema, with its losses and the conversion of arguments.
    pub fn lowered(&self) -> Option<&Lowered> {
        self.schema.lower(self.dialect).ok()
    }

    fn convert_call(
        &self,
        mut call: ToolCall,
        name: &str,
        convert_arguments: impl Fn(&Lowered, &mut Value),
    ) -> ToolCall {
        if call.name != name {
            call.name = name.into();
        }
        let lowered = self.lowered();
        if let Some(lowered) = lowered.filter(|lowered| !lowered.keeps_argument_form())
            && let Some(mut value) = parse_arguments(&call.arguments)
        {
            convert_arguments(lowered, &mut value);
            call.arguments = value.into();
        }
        call
    }
}

/// Parses arguments, repaired if necessary.
pub(super) fn parse_arguments(arguments: &Arguments) -> Option<Value> {
    let limits = InputLimits::default();
    if let Ok(value) = arguments.to_value(&limits) {
        return Some(value);
    }
    let repaired = repair(arguments.as_str(), &limits).ok()?;
    Some(Tape::parse(&repaired.text, &limits).ok()?.to_value())
}
