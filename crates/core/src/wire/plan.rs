//! Tools and a dialect in; the `tools` array of a request, what did not fit into it, and the way back out.
//!
//! The same tools give the same bytes: a provider's prompt cache begins with them.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde::Serialize;
use serde_json::Value;
use toolwright_schema::{Dialect, InputLimits, LowerError, Lowered, Schema, Tape, repair};

use super::wire_name::wire_names;
use super::write::DefinitionParts;
use super::{Shape, ToolDefinition};
use crate::call::ToolCall;
use crate::registry::RegisteredTool;
use crate::tool::policy::{Hints, StrictMode};

/// A tool that wants to be part of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CandidateTool<'a> {
    /// The name it has here.
    pub name: &'a str,
    /// The name people read.
    pub title: Option<&'a str>,
    /// What it does.
    pub description: &'a str,
    /// What its arguments must satisfy.
    pub input: &'a Schema,
    /// What its structured result satisfies.
    pub output: Option<&'a Schema>,
    /// What is declared about its effects.
    pub hints: Hints,
    /// Whether the provider may hold the model to the schema.
    pub strict: StrictMode,
}

impl<'a> From<&'a RegisteredTool> for CandidateTool<'a> {
    fn from(entry: &'a RegisteredTool) -> Self {
        let spec = entry.spec();
        Self {
            name: spec.name.as_str(),
            title: spec.title.as_deref(),
            description: &spec.description,
            input: &spec.input,
            output: spec.output.as_ref(),
            hints: spec.hints,
            strict: entry.policy().strict,
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

/// How the tools of a request are planned.
#[derive(Clone, Debug)]
pub struct ToolPlanner {
    dialect: Dialect,
    shape: Shape,
    reserved: Vec<String>,
    preferred: Vec<String>,
    max_tokens: Option<usize>,
}

impl ToolPlanner {
    /// Plans for a dialect, in the shape it is usually sent.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            shape: Shape::for_dialect(dialect),
            reserved: Vec::new(),
            preferred: Vec::new(),
            max_tokens: None,
        }
    }

    /// Writes definitions in another shape, as OpenAI's Chat Completions instead of Responses.
    #[must_use]
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Keeps names free, as those of the hosted tools in the same request.
    #[must_use]
    pub fn reserve(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.reserved.extend(names.into_iter().map(Into::into));
        self
    }

    /// Names the tools that come first when not all fit.
    #[must_use]
    pub fn prefer(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.preferred.extend(names.into_iter().map(Into::into));
        self
    }

    /// Bounds the estimated tokens of all definitions together.
    #[must_use]
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Plans a request that carries these tools, in this order.
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
        };
        let mut bids = Vec::with_capacity(tools.len());
        // A request that asks for strict mode throughout still has to keep to what that mode allows in sum.
        let plain = self.dialect.non_strict();
        for (tool, wire) in tools.iter().zip(&names) {
            match LoweredCandidate::new(tool, wire, plain) {
                Ok(bid) => bids.push(bid),
                Err(impossible) => plan.omit(tool, impossible.to_string()),
            }
        }
        self.enforce_tool_limit(&mut bids, &mut plan);
        if let Some(strict) = plain.strict() {
            assign_strict_mode(&mut bids, strict, self.dialect.is_strict());
        }
        drop_item_limits(&mut bids, self.dialect);
        let mut definitions = Vec::with_capacity(bids.len());
        let mut tokens = 0;
        for bid in bids {
            let definition = self.shape.write_definition(&bid.definition_parts());
            let estimate = definition.len().div_ceil(BYTES_PER_TOKEN);
            if self.max_tokens.is_some_and(|most| tokens + estimate > most) {
                let reason = format!("its {estimate} tokens are more than is left of the budget");
                plan.omit(bid.tool, reason);
                continue;
            }
            tokens += estimate;
            definitions.push(definition);
            plan.tools.push(PlannedTool {
                name: bid.tool.name.to_owned(),
                wire_name: bid.wire_name.to_owned(),
                dialect: bid.dialect,
                tokens: estimate,
                description: bid.description.into_owned(),
                unbounded_schema: bid.unbounded_schema,
                schema: bid.tool.input.clone(),
            });
        }
        plan.json = self.shape.write_array(&definitions);
        plan
    }

    /// Leaves out what is more than the dialect takes: preferred tools stay, then those that come first.
    fn enforce_tool_limit(&self, bids: &mut Vec<LoweredCandidate<'_>>, plan: &mut ToolPlan) {
        let Some(most) = self.dialect.max_tools().filter(|most| bids.len() > *most) else {
            return;
        };
        let preferred =
            |bid: &LoweredCandidate<'_>| self.preferred.iter().any(|name| name == bid.tool.name);
        let mut room = most.saturating_sub(bids.iter().filter(|bid| preferred(bid)).count());
        let mut kept = 0;
        bids.retain(|bid| {
            let stays = if preferred(bid) {
                kept < most
            } else if room > 0 {
                room -= 1;
                true
            } else {
                false
            };
            kept += usize::from(stays);
            if !stays {
                let reason = format!("{} takes at most {most} tools in a request", self.dialect);
                plan.omit(bid.tool, reason);
            }
            stays
        });
    }
}

/// One token is about as many bytes of JSON.
const BYTES_PER_TOKEN: usize = 4;

/// A tool on its way into a request.
struct LoweredCandidate<'a> {
    tool: &'a CandidateTool<'a>,
    wire_name: &'a str,
    dialect: Dialect,
    lowered: &'a Lowered,
    description: Cow<'a, str>,
    /// The schema, where it differs from the lowered one.
    unbounded_schema: Option<String>,
}

impl<'a> LoweredCandidate<'a> {
    fn new(
        tool: &'a CandidateTool<'a>,
        wire: &'a str,
        dialect: Dialect,
    ) -> Result<Self, &'a LowerError> {
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
        properties
            .and_then(Value::as_object)
            .is_some_and(|properties| !properties.is_empty())
    }

    fn definition_parts(&self) -> DefinitionParts<'_> {
        DefinitionParts {
            tool: self.tool,
            name: self.wire_name,
            description: &self.description,
            schema: self
                .unbounded_schema
                .as_deref()
                .unwrap_or_else(|| self.lowered.text()),
            has_parameters: self.has_parameters(),
            strict: self.dialect.is_strict(),
            dialect: self.dialect,
        }
    }
}

/// The tool's description, which no API wants empty, and what the schema had no room for.
fn full_description<'a>(
    tool: &CandidateTool<'a>,
    wire: &'a str,
    lowered: &Lowered,
) -> Cow<'a, str> {
    let told = if tool.description.is_empty() {
        wire
    } else {
        tool.description
    };
    match lowered.description_suffix() {
        Some(remark) => Cow::Owned(format!("{told}\n\n{remark}")),
        None => Cow::Borrowed(told),
    }
}

/// Spends the strict budget: on tools that ask for it, then where a mistake costs most, then where most can be mistaken.
fn assign_strict_mode(bids: &mut [LoweredCandidate<'_>], strict: Dialect, all: bool) {
    let mut order: Vec<(usize, &Lowered)> = bids
        .iter()
        .enumerate()
        .filter_map(|(place, bid)| {
            let lowered = bid.tool.input.lower(strict).ok()?;
            let wanted = match bid.tool.strict {
                StrictMode::On => true,
                StrictMode::Auto => all || lowered.is_lossless(),
                StrictMode::Off => false,
            };
            wanted.then_some((place, lowered))
        })
        .collect();
    let most = strict.strict_budget();
    order.sort_by_key(|(place, lowered)| {
        let tool = bids.get(*place).map(|bid| bid.tool);
        let asked = tool.is_some_and(|tool| tool.strict == StrictMode::On);
        let destructive = tool.is_some_and(|tool| tool.hints.destructive == Some(true));
        Reverse((asked, destructive, lowered.cost().properties))
    });
    let (mut tools, mut optional, mut unions) = (0, 0, 0);
    for (place, lowered) in order {
        let weight = lowered.cost();
        let fits = |used: usize, most: Option<usize>| most.is_none_or(|most| used <= most);
        if !fits(tools + 1, most.max_strict_tools)
            || !fits(optional + weight.optional, most.max_optional_parameters)
            || !fits(unions + weight.unions, most.max_union_parameters)
        {
            continue;
        }
        tools += 1;
        optional += weight.optional;
        unions += weight.unions;
        if let Some(bid) = bids.get_mut(place) {
            bid.dialect = strict;
            bid.description = full_description(bid.tool, bid.wire_name, lowered);
            bid.lowered = lowered;
        }
    }
}

/// Where a request may ask for so many list elements in all, the longest lists go unbounded.
fn drop_item_limits(bids: &mut [LoweredCandidate<'_>], dialect: Dialect) {
    let Some(most) = dialect.max_items_total() else {
        return;
    };
    let mut total: u64 = bids
        .iter()
        .map(|bid| bid.lowered.cost().max_items_total)
        .sum();
    while total > most {
        let heaviest = bids
            .iter_mut()
            .filter(|bid| bid.unbounded_schema.is_none())
            .max_by_key(|bid| bid.lowered.cost().max_items_total);
        let Some(bid) = heaviest.filter(|bid| bid.lowered.cost().max_items_total > 0) else {
            return;
        };
        total -= bid.lowered.cost().max_items_total;
        bid.unbounded_schema = Some(bid.lowered.schema_without("maxItems").to_string());
    }
}

/// The tools of one request as they are sent.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    tools: Vec<PlannedTool>,
    omitted: Vec<OmittedTool>,
    json: String,
}

/// A tool as one request carries it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedTool {
    /// The name it has here.
    pub name: String,
    /// The name the model sees.
    pub wire_name: String,
    /// The dialect its schema is written in: the strict twin of the planner's, where that fits.
    pub dialect: Dialect,
    /// About how many tokens its definition takes.
    pub tokens: usize,
    /// What it does, and what its schema had no room for.
    pub description: String,
    unbounded_schema: Option<String>,
    schema: Schema,
}

/// A tool that a request does not carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OmittedTool {
    /// The tool.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl ToolPlan {
    /// The `tools` array, exactly as it is sent.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The tools in the order they are sent.
    pub fn tools(&self) -> &[PlannedTool] {
        &self.tools
    }

    /// What did not fit, and why.
    pub fn omitted(&self) -> &[OmittedTool] {
        &self.omitted
    }

    /// About how many tokens all definitions take.
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// The name the model sees a tool under.
    pub fn wire_name(&self, name: &str) -> Option<&str> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        Some(&tool.wire_name)
    }

    /// Returns a call from the form the model was shown to the tool's own.
    ///
    /// What is not understood stays as it is: whoever invokes it says what is wrong.
    #[must_use]
    pub fn lift(&self, call: ToolCall) -> ToolCall {
        let Some(tool) = self
            .tools
            .iter()
            .find(|tool| tool.wire_name == call.name.as_str())
        else {
            return call;
        };
        let mut lifted = call;
        if tool.name != tool.wire_name {
            lifted.name = tool.name.as_str().into();
        }
        let Some(lowered) = tool
            .lowered()
            .filter(|lowered| !lowered.keeps_argument_form())
        else {
            return lifted;
        };
        if let Some(mut value) = parse_arguments(lifted.arguments.as_str()) {
            lowered.lift_arguments(&mut value);
            lifted.arguments = value.to_string().into();
        }
        lifted
    }

    /// Brings a call of the past into the form that the model is shown now.
    #[must_use]
    pub fn lower(&self, call: ToolCall) -> ToolCall {
        let Some(tool) = self
            .tools
            .iter()
            .find(|tool| tool.name == call.name.as_str())
        else {
            return call;
        };
        let mut lowered_call = call;
        lowered_call.name = tool.wire_name.as_str().into();
        let Some(lowered) = tool
            .lowered()
            .filter(|lowered| !lowered.keeps_argument_form())
        else {
            return lowered_call;
        };
        if let Some(mut value) = parse_arguments(lowered_call.arguments.as_str()) {
            lowered.lower_arguments(&mut value);
            lowered_call.arguments = value.to_string().into();
        }
        lowered_call
    }

    fn omit(&mut self, tool: &CandidateTool<'_>, reason: String) {
        self.omitted.push(OmittedTool {
            name: tool.name.to_owned(),
            reason,
        });
    }
}

impl PlannedTool {
    /// What its arguments must satisfy, as the model is told.
    pub fn parameters(&self) -> Value {
        match &self.unbounded_schema {
            Some(text) => serde_json::from_str(text).unwrap_or_default(),
            None => self
                .lowered()
                .map(|lowered| lowered.schema().clone())
                .unwrap_or_default(),
        }
    }

    /// What its schema lost, and the way its arguments come back.
    pub fn lowered(&self) -> Option<&Lowered> {
        self.schema.lower(self.dialect).ok()
    }
}

/// Reads arguments, repaired if need be.
fn parse_arguments(text: &str) -> Option<Value> {
    let limits = InputLimits::default();
    if let Ok(tape) = Tape::parse(text, &limits) {
        return Some(tape.to_value());
    }
    let repaired = repair(text, &limits).ok()?;
    Some(Tape::parse(&repaired.text, &limits).ok()?.to_value())
}
