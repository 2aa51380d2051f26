//! [`ToolPlanner`]: makes the `tools` array of a request from tools and a dialect.
//!
//! The same tools give the same bytes: they are part of the prefix of a provider's prompt cache.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::OnceLock;

use serde_json::Value;
use toolwright_schema::{Dialect, LowerError, Lowered};

use super::Shape;
use super::candidate::CandidateTool;
use super::tool_plan::{PlannedTool, ToolPlan};
use super::wire_name::wire_names;
use super::write::DefinitionParts;
use crate::tool::custom_format::text_param;
use crate::tool::policy::StrictMode;

/// Options for the `tools` array of a request.
#[derive(Clone, Debug)]
pub struct ToolPlanner {
    dialect: Dialect,
    shape: Shape,
    reserved: Vec<String>,
    preferred: Vec<String>,
    max_tokens: Option<usize>,
    search_tool: Option<String>,
    custom_tools: bool,
    namespaces: bool,
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
            search_tool: None,
            custom_tools: false,
            namespaces: false,
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

    /// Sets the tool that searches for the deferred ones.
    #[must_use]
    pub fn search_tool(mut self, name: impl Into<String>) -> Self {
        self.search_tool = Some(name.into());
        self
    }

    /// Sets whether custom tools are defined as such: only some models of OpenAI call them. By default they are functions.
    #[must_use]
    pub fn custom_tools(mut self, yes: bool) -> Self {
        self.custom_tools = yes;
        self
    }

    /// Sets whether deferred tools are loaded in namespaces, one for each bundle: only OpenAI has them. By default they are not.
    #[must_use]
    pub fn namespaces(mut self, yes: bool) -> Self {
        self.namespaces = yes;
        self
    }

    /// Makes the plan of a request with these tools, in this order.
    ///
    /// Deferred tools are not part of the `tools` array, and count towards no limit of it: see
    /// [`ToolPlan::deferred_definitions`].
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
            deferred_definitions: OnceLock::new(),
            search_tool: self.search_tool.clone(),
            custom_tools: self.custom_tools,
            namespaces: self.namespaces,
        };
        let has_custom_tools =
            self.custom_tools && matches!(self.shape, Shape::OpenAiResponses | Shape::OpenAiChat);
        let mut candidates = Vec::with_capacity(tools.len());
        // Even for a strict dialect, strict mode is assigned later, within its budget for the whole request.
        let non_strict = self.dialect.non_strict();
        for (tool, wire) in tools.iter().zip(&names) {
            match LoweredCandidate::new(tool, wire, non_strict) {
                Ok(mut candidate) => {
                    let is_custom = has_custom_tools && tool.custom_format.is_some();
                    candidate.custom_param = text_param(tool.input).filter(|_| is_custom);
                    candidates.push(candidate);
                }
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
            let deferred_definition = if candidate.tool.deferred {
                Some(definition)
            } else if self.max_tokens.is_some_and(|limit| tokens + estimate > limit) {
                let reason = format!("its {estimate} tokens are more than is left of the budget");
                plan.omit(candidate.tool, reason);
                continue;
            } else {
                tokens += estimate;
                definitions.push(definition);
                None
            };
            plan.tools.push(PlannedTool {
                name: candidate.tool.name.to_owned(),
                wire_name: candidate.wire_name.to_owned(),
                dialect: candidate.dialect,
                tokens: estimate,
                description: candidate.description.into_owned(),
                unbounded_schema: candidate.unbounded_schema,
                deferred_definition,
                bundle: candidate.tool.bundle.to_owned(),
                custom_param: candidate.custom_param.map(str::to_owned),
                schema: candidate.tool.input.clone(),
            });
        }
        plan.json = self.shape.write_array(&definitions);
        plan
    }

    /// Omits tools over the limit of the dialect: preferred tools are kept, then the first ones.
    fn enforce_tool_limit(&self, candidates: &mut Vec<LoweredCandidate<'_>>, plan: &mut ToolPlan) {
        let loaded = candidates.iter().filter(|candidate| !candidate.tool.deferred).count();
        let Some(limit) = self.dialect.max_tools().filter(|limit| loaded > *limit) else {
            return;
        };
        let preferred = |candidate: &LoweredCandidate<'_>| {
            self.preferred.iter().any(|name| name == candidate.tool.name)
        };
        let mut room = limit
            .saturating_sub(candidates.iter().filter(|candidate| preferred(candidate)).count());
        let mut kept = 0;
        candidates.retain(|candidate| {
            if candidate.tool.deferred {
                return true;
            }
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

/// The model itself, among the callers of a tool.
const DIRECT_CALLER: &str = "direct";

/// The estimated number of bytes of JSON per token.
pub const BYTES_PER_TOKEN: usize = 4;

/// A candidate with its lowered schema.
struct LoweredCandidate<'a> {
    tool: &'a CandidateTool<'a>,
    wire_name: &'a str,
    dialect: Dialect,
    lowered: &'a Lowered,
    description: Cow<'a, str>,
    /// The lowered schema without `maxItems`, if [`drop_item_limits`] removed it.
    unbounded_schema: Option<String>,
    /// The parameter that has the text, if it is defined as a custom tool.
    custom_param: Option<&'a str>,
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
            custom_param: None,
        })
    }

    /// Returns false for tools whose definition has no strict mode: deferred and custom ones, and those that programs may call.
    fn may_be_strict(&self, strict: Dialect) -> bool {
        let is_program = |caller: &String| caller != DIRECT_CALLER;
        let has_programs =
            strict == Dialect::ANTHROPIC_STRICT && self.tool.allowed_callers.iter().any(is_program);
        !self.tool.deferred && self.custom_param.is_none() && !has_programs
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
            lowered: self.lowered,
            has_parameters: self.has_parameters(),
            strict: self.dialect.is_strict(),
            dialect: self.dialect,
            custom_format: self.tool.custom_format.filter(|_| self.custom_param.is_some()),
            deferred: self.tool.deferred,
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
        .filter(|(_, candidate)| candidate.may_be_strict(strict))
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
