//! [`ToolPlanner`]: makes the `tools` array of a request from tools and a dialect.
//!
//! The same tools give the same bytes: they are part of the prefix of a provider's prompt cache.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::Value;
use toolwright_schema::{Dialect, InputLimits, LowerError, Lowered, Schema, Tape, repair};

use super::wire_name::wire_names;
use super::write::DefinitionParts;
use super::{Shape, ToolDefinition};
use crate::call::ToolCall;
use crate::registry::RegisteredTool;
use crate::tool::policy::{Hints, StrictMode};

/// A tool that may become part of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CandidateTool<'a> {
    /// The name in the registry.
    pub name: &'a str,
    /// The display name.
    pub title: Option<&'a str>,
    /// What the tool does.
    pub description: &'a str,
    /// The schema of the arguments.
    pub input: &'a Schema,
    /// The schema of the structured result.
    pub output: Option<&'a Schema>,
    /// The declared effects.
    pub hints: Hints,
    /// Whether the provider may enforce the schema.
    pub strict: StrictMode,
}

impl<'a> From<&'a RegisteredTool> for CandidateTool<'a> {
    fn from(tool: &'a RegisteredTool) -> Self {
        let spec = tool.spec();
        Self {
            name: spec.name.as_str(),
            title: spec.title.as_deref(),
            description: &spec.description,
            input: &spec.input,
            output: spec.output.as_ref(),
            hints: spec.hints,
            strict: tool.policy().strict,
        }
    }
}

impl<'a> From<&'a ToolDefinition> for CandidateTool<'a> {
    fn from(definition: &'a ToolDefinition) -> Self {
        Self {
            name: &definition.name,
            title: definition.title.as_deref(),
            description: &definition.description,
            input: &definition.input,
            output: definition.output.as_ref(),
            hints: definition.hints,
            strict: match definition.strict {
                Some(true) => StrictMode::On,
                Some(false) => StrictMode::Off,
                None => StrictMode::Auto,
            },
        }
    }
}

/// Options for the `tools` array of a request.
#[derive(Clone, Debug)]
pub struct ToolPlanner {
    dialect: Dialect,
    shape: Shape,
    reserved: Vec<String>,
    preferred: Vec<String>,
    max_tokens: Option<usize>,
}

impl ToolPlanner {
    /// Makes a planner for a dialect, with its usual shape.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            shape: Shape::for_dialect(dialect),
            reserved: Vec::new(),
            preferred: Vec::new(),
            max_tokens: None,
        }
    }

    /// Sets another shape of definitions, for example OpenAI's Chat Completions instead of Responses.
    #[must_use]
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Reserves names, for example those of hosted tools in the same request.
    #[must_use]
    pub fn reserve(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.reserved.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the tools that are kept first when not all fit.
    #[must_use]
    pub fn prefer(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.preferred.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the maximum of estimated tokens of all definitions together.
    #[must_use]
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Makes the plan of a request with these tools, in this order.
    pub fn plan<'a>(
        &self,
        tools: impl IntoIterator<Item = impl Into<CandidateTool<'a>>>,
    ) -> ToolPlan {
        let tools: Vec<CandidateTool<'a>> = tools.into_iter().map(Into::into).collect();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        let names = wire_names(&names, self.dialect.tool_name(), &self.reserved);
        let mut plan = ToolPlan {
            tools: Vec::with_capacity(tools.len()),
            omitted: Vec::new(),
            json: String::new(),
            definitions: OnceLock::new(),
        };
        let mut candidates = Vec::with_capacity(tools.len());
        // Even for a strict dialect, strict mode is assigned later, within its budget for the whole request.
        let non_strict = self.dialect.non_strict();
        for (tool, wire) in tools.iter().zip(&names) {
            match LoweredCandidate::new(tool, wire, non_strict) {
                Ok(candidate) => candidates.push(candidate),
                Err(error) => plan.omit(tool, error.to_string()),
            }
        }
        self.enforce_tool_limit(&mut candidates, &mut plan);
        if let Some(strict) = non_strict.strict() {
            assign_strict_mode(&mut candidates, strict, self.dialect.is_strict());
        }
        drop_item_limits(&mut candidates, self.dialect);
        let mut definitions = Vec::with_capacity(candidates.len());
        let mut tokens = 0;
        for candidate in candidates {
            let definition = self.shape.write_definition(&candidate.definition_parts());
            let estimate = definition.len().div_ceil(BYTES_PER_TOKEN);
            if self.max_tokens.is_some_and(|limit| tokens + estimate > limit) {
                let reason = format!("its {estimate} tokens are more than is left of the budget");
                plan.omit(candidate.tool, reason);
                continue;
            }
            tokens += estimate;
            definitions.push(definition);
            plan.tools.push(PlannedTool {
                name: candidate.tool.name.to_owned(),
                wire_name: candidate.wire_name.to_owned(),
                dialect: candidate.dialect,
                tokens: estimate,
                description: candidate.description.into_owned(),
                unbounded_schema: candidate.unbounded_schema,
                schema: candidate.tool.input.clone(),
            });
        }
        plan.json = self.shape.write_array(&definitions);
        plan
    }

    /// Omits tools over the limit of the dialect: preferred tools are kept, then the first ones.
    fn enforce_tool_limit(&self, candidates: &mut Vec<LoweredCandidate<'_>>, plan: &mut ToolPlan) {
        let Some(limit) = self.dialect.max_tools().filter(|limit| candidates.len() > *limit) else {
            return;
        };
        let preferred = |candidate: &LoweredCandidate<'_>| {
            self.preferred.iter().any(|name| name == candidate.tool.name)
        };
        let mut room = limit
            .saturating_sub(candidates.iter().filter(|candidate| preferred(candidate)).count());
        let mut kept = 0;
        candidates.retain(|candidate| {
            let keep = if preferred(candidate) {
                kept < limit
            } else if room > 0 {
                room -= 1;
                true
            } else {
                false
            };
            kept += usize::from(keep);
            if !keep {
                let reason = format!("{} takes at most {limit} tools in a request", self.dialect);
                plan.omit(candidate.tool, reason);
            }
            keep
        });
    }
}

/// The estimated number of bytes of JSON per token.
const BYTES_PER_TOKEN: usize = 4;

/// A candidate with its lowered schema.
struct LoweredCandidate<'a> {
    tool: &'a CandidateTool<'a>,
    wire_name: &'a str,
    dialect: Dialect,
    lowered: &'a Lowered,
    description: Cow<'a, str>,
    /// The lowered schema without `maxItems`, if [`drop_item_limits`] removed it.
    unbounded_schema: Option<String>,
}

impl<'a> LoweredCandidate<'a> {
    fn new(
        tool: &'a CandidateTool<'a>,
        wire: &'a str,
        dialect: Dialect,
    ) -> Result<Self, LowerError> {
        let lowered = tool.input.lower(dialect)?;
        Ok(Self {
            tool,
            wire_name: wire,
            dialect,
            lowered,
            description: full_description(tool, wire, lowered),
            unbounded_schema: None,
        })
    }

    fn has_parameters(&self) -> bool {
        let properties = self.lowered.schema().get("properties");
        properties.and_then(Value::as_object).is_some_and(|properties| !properties.is_empty())
    }

    fn definition_parts(&self) -> DefinitionParts<'_> {
        DefinitionParts {
            tool: self.tool,
            name: self.wire_name,
            description: &self.description,
            schema: self.unbounded_schema.as_deref().unwrap_or_else(|| self.lowered.text()),
            has_parameters: self.has_parameters(),
            strict: self.dialect.is_strict(),
            dialect: self.dialect,
        }
    }
}

/// Returns the tool's description and constraints that the lowered schema cannot express. Never empty, because APIs
/// reject that.
pub(super) fn full_description<'a>(
    tool: &CandidateTool<'a>,
    wire: &'a str,
    lowered: &Lowered,
) -> Cow<'a, str> {
    let description = if tool.description.is_empty() { wire } else { tool.description };
    match lowered.description_suffix() {
        Some(suffix) => Cow::Owned(format!("{description}\n\n{suffix}")),
        None => Cow::Borrowed(description),
    }
}

/// Spends the strict budget: on tools with [`StrictMode::On`], then destructive tools, then those with the most properties.
fn assign_strict_mode(candidates: &mut [LoweredCandidate<'_>], strict: Dialect, all: bool) {
    let mut order: Vec<(usize, &Lowered)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let lowered = candidate.tool.input.lower(strict).ok()?;
            let wants_strict = match candidate.tool.strict {
                StrictMode::On => true,
                StrictMode::Auto => all || lowered.is_lossless(),
                StrictMode::Off => false,
            };
            wants_strict.then_some((index, lowered))
        })
        .collect();
    let budget = strict.strict_budget();
    order.sort_by_key(|(index, lowered)| {
        let tool = candidates.get(*index).map(|candidate| candidate.tool);
        let explicit = tool.is_some_and(|tool| tool.strict == StrictMode::On);
        let destructive = tool.is_some_and(|tool| tool.hints.destructive == Some(true));
        Reverse((explicit, destructive, lowered.cost().properties))
    });
    let (mut tools, mut optional, mut unions) = (0, 0, 0);
    for (index, lowered) in order {
        let cost = lowered.cost();
        let fits = |used: usize, limit: Option<usize>| limit.is_none_or(|limit| used <= limit);
        if !fits(tools + 1, budget.max_strict_tools)
            || !fits(optional + cost.optional, budget.max_optional_parameters)
            || !fits(unions + cost.unions, budget.max_union_parameters)
        {
            continue;
        }
        tools += 1;
        optional += cost.optional;
        unions += cost.unions;
        if let Some(candidate) = candidates.get_mut(index) {
            candidate.dialect = strict;
            candidate.description = full_description(candidate.tool, candidate.wire_name, lowered);
            candidate.lowered = lowered;
        }
    }
}

/// Drops `maxItems` from the schemas with the largest sum of it, until the whole request is within the dialect's limit.
fn drop_item_limits(candidates: &mut [LoweredCandidate<'_>], dialect: Dialect) {
    let Some(limit) = dialect.max_items_total() else {
        return;
    };
    let mut total: u64 =
        candidates.iter().map(|candidate| candidate.lowered.cost().max_items_total).sum();
    while total > limit {
        let heaviest = candidates
            .iter_mut()
            .filter(|candidate| candidate.unbounded_schema.is_none())
            .max_by_key(|candidate| candidate.lowered.cost().max_items_total);
        let Some(candidate) =
            heaviest.filter(|candidate| candidate.lowered.cost().max_items_total > 0)
        else {
            return;
        };
        total -= candidate.lowered.cost().max_items_total;
        candidate.unbounded_schema = Some(candidate.lowered.schema_without("maxItems").to_string());
    }
}

/// The tools of one request.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    tools: Vec<PlannedTool>,
    omitted: Vec<OmittedTool>,
    json: String,
    /// [`json`](Self::json), parsed when the first request needs it.
    definitions: OnceLock<Vec<Value>>,
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
    unbounded_schema: Option<String>,
    schema: Schema,
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

    /// Returns the tools in the order of the array.
    pub fn tools(&self) -> &[PlannedTool] {
        &self.tools
    }

    /// Returns the tools that did not fit, with the reasons.
    pub fn omitted(&self) -> &[OmittedTool] {
        &self.omitted
    }

    /// Returns the estimated number of tokens of all definitions.
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// Returns the name that the model sees for a tool.
    pub fn wire_name(&self, name: &str) -> Option<&str> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        Some(&tool.wire_name)
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

    fn omit(&mut self, tool: &CandidateTool<'_>, reason: String) {
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
            && let Some(mut value) = parse_arguments(call.arguments.as_str())
        {
            convert_arguments(lowered, &mut value);
            call.arguments = value.to_string().into();
        }
        call
    }
}

/// Parses arguments, repaired if necessary.
pub(super) fn parse_arguments(text: &str) -> Option<Value> {
    let limits = InputLimits::default();
    if let Ok(tape) = Tape::parse(text, &limits) {
        return Some(tape.to_value());
    }
    let repaired = repair(text, &limits).ok()?;
    Some(Tape::parse(&repaired.text, &limits).ok()?.to_value())
}
