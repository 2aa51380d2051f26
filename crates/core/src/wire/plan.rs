//! Tools and a dialect in; the `tools` array of a request, what did not fit into it, and the way back out.
//!
//! The same tools give the same bytes: a provider's prompt cache begins with them.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde::Serialize;
use serde_json::Value;
use toolwright_schema::{Dialect, Impossible, Limits, Lowered, Schema, Tape, repair};

use super::name::wire_names;
use super::write::Written;
use super::{Definition, Shape};
use crate::call::ToolCall;
use crate::options::{Hints, Strict};
use crate::registry::Entry;

/// A tool that wants to be part of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate<'a> {
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
    pub strict: Strict,
}

impl<'a> From<&'a Entry> for Candidate<'a> {
    fn from(entry: &'a Entry) -> Self {
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

impl<'a> From<&'a Definition> for Candidate<'a> {
    fn from(definition: &'a Definition) -> Self {
        Self {
            name: &definition.name,
            title: definition.title.as_deref(),
            description: &definition.description,
            input: &definition.input,
            output: definition.output.as_ref(),
            hints: definition.hints,
            strict: match definition.strict {
                Some(true) => Strict::On,
                Some(false) => Strict::Off,
                None => Strict::Auto,
            },
        }
    }
}

/// How the tools of a request are planned.
#[derive(Clone, Debug)]
pub struct Planner {
    dialect: Dialect,
    shape: Shape,
    reserved: Vec<String>,
    preferred: Vec<String>,
    most_tokens: Option<usize>,
}

impl Planner {
    /// Plans for a dialect, in the shape it is usually sent.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            shape: Shape::of(dialect),
            reserved: Vec::new(),
            preferred: Vec::new(),
            most_tokens: None,
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
    pub fn most_tokens(mut self, tokens: usize) -> Self {
        self.most_tokens = Some(tokens);
        self
    }

    /// Plans a request that carries these tools, in this order.
    pub fn plan<'a>(&self, tools: impl IntoIterator<Item = impl Into<Candidate<'a>>>) -> Plan {
        let tools: Vec<Candidate<'a>> = tools.into_iter().map(Into::into).collect();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        let names = wire_names(&names, self.dialect.tool_name(), &self.reserved);
        let mut plan = Plan {
            tools: Vec::with_capacity(tools.len()),
            left_out: Vec::new(),
            text: String::new(),
        };
        let mut bids = Vec::with_capacity(tools.len());
        // A request that asks for strict mode throughout still has to keep to what that mode allows in sum.
        let plain = self.dialect.plain();
        for (tool, wire) in tools.iter().zip(&names) {
            match Bid::new(tool, wire, plain) {
                Ok(bid) => bids.push(bid),
                Err(impossible) => plan.leave_out(tool, impossible.to_string()),
            }
        }
        self.cut(&mut bids, &mut plan);
        if let Some(strict) = plain.strict() {
            hold(&mut bids, strict, self.dialect.is_strict());
        }
        relieve(&mut bids, self.dialect);
        let mut definitions = Vec::with_capacity(bids.len());
        let mut tokens = 0;
        for bid in bids {
            let definition = self.shape.definition(&bid.written());
            let estimate = definition.len().div_ceil(BYTES_PER_TOKEN);
            if self
                .most_tokens
                .is_some_and(|most| tokens + estimate > most)
            {
                let reason = format!("its {estimate} tokens are more than is left of the budget");
                plan.leave_out(bid.tool, reason);
                continue;
            }
            tokens += estimate;
            definitions.push(definition);
            plan.tools.push(Planned {
                name: bid.tool.name.to_owned(),
                wire: bid.wire.to_owned(),
                dialect: bid.dialect,
                tokens: estimate,
                description: bid.description.into_owned(),
                relieved: bid.relieved,
                schema: bid.tool.input.clone(),
            });
        }
        plan.text = self.shape.array(&definitions);
        plan
    }

    /// Leaves out what is more than the dialect takes: preferred tools stay, then those that come first.
    fn cut(&self, bids: &mut Vec<Bid<'_>>, plan: &mut Plan) {
        let Some(most) = self.dialect.most_tools().filter(|most| bids.len() > *most) else {
            return;
        };
        let preferred = |bid: &Bid<'_>| self.preferred.iter().any(|name| name == bid.tool.name);
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
                plan.leave_out(bid.tool, reason);
            }
            stays
        });
    }
}

/// One token is about as many bytes of JSON.
const BYTES_PER_TOKEN: usize = 4;

/// A tool on its way into a request.
struct Bid<'a> {
    tool: &'a Candidate<'a>,
    wire: &'a str,
    dialect: Dialect,
    lowered: &'a Lowered,
    description: Cow<'a, str>,
    /// The schema, where it differs from the lowered one.
    relieved: Option<String>,
}

impl<'a> Bid<'a> {
    fn new(
        tool: &'a Candidate<'a>,
        wire: &'a str,
        dialect: Dialect,
    ) -> Result<Self, &'a Impossible> {
        let lowered = tool.input.lower(dialect)?;
        Ok(Self {
            tool,
            wire,
            dialect,
            lowered,
            description: described(tool, wire, lowered),
            relieved: None,
        })
    }

    fn takes_something(&self) -> bool {
        let properties = self.lowered.schema().get("properties");
        properties
            .and_then(Value::as_object)
            .is_some_and(|properties| !properties.is_empty())
    }

    fn written(&self) -> Written<'_> {
        Written {
            tool: self.tool,
            name: self.wire,
            description: &self.description,
            schema: self
                .relieved
                .as_deref()
                .unwrap_or_else(|| self.lowered.text()),
            takes_something: self.takes_something(),
            strict: self.dialect.is_strict(),
            dialect: self.dialect,
        }
    }
}

/// The tool's description, which no API wants empty, and what the schema had no room for.
fn described<'a>(tool: &Candidate<'a>, wire: &'a str, lowered: &Lowered) -> Cow<'a, str> {
    let told = if tool.description.is_empty() {
        wire
    } else {
        tool.description
    };
    match lowered.remark() {
        Some(remark) => Cow::Owned(format!("{told}\n\n{remark}")),
        None => Cow::Borrowed(told),
    }
}

/// Spends the strict budget: on tools that ask for it, then where a mistake costs most, then where most can be mistaken.
fn hold(bids: &mut [Bid<'_>], strict: Dialect, all: bool) {
    let mut order: Vec<(usize, &Lowered)> = bids
        .iter()
        .enumerate()
        .filter_map(|(place, bid)| {
            let lowered = bid.tool.input.lower(strict).ok()?;
            let wanted = match bid.tool.strict {
                Strict::On => true,
                Strict::Auto => all || lowered.is_lossless(),
                Strict::Off => false,
            };
            wanted.then_some((place, lowered))
        })
        .collect();
    let most = strict.strict_budget();
    order.sort_by_key(|(place, lowered)| {
        let tool = bids.get(*place).map(|bid| bid.tool);
        let asked = tool.is_some_and(|tool| tool.strict == Strict::On);
        let destructive = tool.is_some_and(|tool| tool.hints.destructive == Some(true));
        Reverse((asked, destructive, lowered.weight().properties))
    });
    let (mut tools, mut optional, mut unions) = (0, 0, 0);
    for (place, lowered) in order {
        let weight = lowered.weight();
        let fits = |used: usize, most: Option<usize>| most.is_none_or(|most| used <= most);
        if !fits(tools + 1, most.tools)
            || !fits(optional + weight.optional, most.optional)
            || !fits(unions + weight.unions, most.unions)
        {
            continue;
        }
        tools += 1;
        optional += weight.optional;
        unions += weight.unions;
        if let Some(bid) = bids.get_mut(place) {
            bid.dialect = strict;
            bid.description = described(bid.tool, bid.wire, lowered);
            bid.lowered = lowered;
        }
    }
}

/// Where a request may ask for so many list elements in all, the longest lists go unbounded.
fn relieve(bids: &mut [Bid<'_>], dialect: Dialect) {
    let Some(most) = dialect.most_items() else {
        return;
    };
    let mut total: u64 = bids.iter().map(|bid| bid.lowered.weight().items).sum();
    while total > most {
        let heaviest = bids
            .iter_mut()
            .filter(|bid| bid.relieved.is_none())
            .max_by_key(|bid| bid.lowered.weight().items);
        let Some(bid) = heaviest.filter(|bid| bid.lowered.weight().items > 0) else {
            return;
        };
        total -= bid.lowered.weight().items;
        bid.relieved = Some(bid.lowered.without("maxItems").to_string());
    }
}

/// The tools of one request as they are sent.
#[derive(Clone, Debug)]
pub struct Plan {
    tools: Vec<Planned>,
    left_out: Vec<LeftOut>,
    text: String,
}

/// A tool as one request carries it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Planned {
    /// The name it has here.
    pub name: String,
    /// The name the model sees.
    pub wire: String,
    /// The dialect its schema is written in: the strict twin of the planner's, where that fits.
    pub dialect: Dialect,
    /// About how many tokens its definition takes.
    pub tokens: usize,
    /// What it does, and what its schema had no room for.
    pub description: String,
    relieved: Option<String>,
    schema: Schema,
}

/// A tool that a request does not carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The tool.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl Plan {
    /// The `tools` array, exactly as it is sent.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tools in the order they are sent.
    pub fn tools(&self) -> &[Planned] {
        &self.tools
    }

    /// What did not fit, and why.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// About how many tokens all definitions take.
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// The name the model sees a tool under.
    pub fn wire_name(&self, name: &str) -> Option<&str> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        Some(&tool.wire)
    }

    /// Returns a call from the form the model was shown to the tool's own.
    ///
    /// What is not understood stays as it is: whoever invokes it says what is wrong.
    #[must_use]
    pub fn lift(&self, call: ToolCall) -> ToolCall {
        let Some(tool) = self
            .tools
            .iter()
            .find(|tool| tool.wire == call.name.as_str())
        else {
            return call;
        };
        let mut lifted = call;
        if tool.name != tool.wire {
            lifted.name = tool.name.as_str().into();
        }
        let Some(lowered) = tool.lowered().filter(|lowered| !lowered.lifts_nothing()) else {
            return lifted;
        };
        if let Some(mut value) = read(lifted.arguments.as_str()) {
            lowered.lift(&mut value);
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
        lowered_call.name = tool.wire.as_str().into();
        let Some(lowered) = tool.lowered().filter(|lowered| !lowered.lifts_nothing()) else {
            return lowered_call;
        };
        if let Some(mut value) = read(lowered_call.arguments.as_str()) {
            lowered.lower_arguments(&mut value);
            lowered_call.arguments = value.to_string().into();
        }
        lowered_call
    }

    fn leave_out(&mut self, tool: &Candidate<'_>, reason: String) {
        self.left_out.push(LeftOut {
            name: tool.name.to_owned(),
            reason,
        });
    }
}

impl Planned {
    /// What its arguments must satisfy, as the model is told.
    pub fn parameters(&self) -> Value {
        match &self.relieved {
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
fn read(text: &str) -> Option<Value> {
    let limits = Limits::default();
    if let Ok(tape) = Tape::parse(text, &limits) {
        return Some(tape.to_value());
    }
    let repaired = repair(text, &limits).ok()?;
    Some(Tape::parse(&repaired.text, &limits).ok()?.to_value())
}
