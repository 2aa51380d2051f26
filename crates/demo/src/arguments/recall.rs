//! Values from the conversation for required parameters that the sentence leaves open.

use serde_json::Value;

use super::numbers::units_of;
use super::{Context, Filler};
use crate::memory::Memory;
use crate::params::{Kind, Meaning, Param};
use crate::quantity::Quantity;
use crate::text::Text;

/// How many results back a number is looked for.
const MAX_RESULTS: usize = 3;

impl Filler<'_, '_> {
    /// Fills required parameters that are still open.
    pub(super) fn recall(&mut self, params: &[Param], values: &mut [Option<Value>]) {
        let Some(memory) = self.context.memory else {
            return;
        };
        // Numbers first, because a number determines the unit.
        for numbers in [true, false] {
            for (param, value) in params.iter().zip(values.iter_mut()) {
                let is_number =
                    matches!(param.kind, Kind::Number { .. }) && param.meaning != Meaning::Id;
                let is_open = value.is_none() && param.required && self.may_recall(param);
                if !is_open || is_number != numbers {
                    continue;
                }
                let number = self.number_of_result(param, params, memory);
                let unit = || self.unit(param, params).map(|found| found.value);
                *value = match &number {
                    Some(quantity) => {
                        quantity.json(matches!(param.kind, Kind::Number { integer: true }))
                    }
                    None => unit().or_else(|| value_of(param, memory)),
                };
                self.unit = self.unit.or(number.and_then(|quantity| quantity.unit));
            }
        }
    }

    fn may_recall(&self, param: &Param) -> bool {
        use Meaning::{Email, Id, Path, Person, Place, Url};
        let is_reference = matches!(param.meaning, Place | Id | Person | Path | Email | Url);
        self.context.refers_back || is_reference && !self.context.cautious
    }

    /// Returns a number of a result: with a unit of the tool's, near the parameter's name, or the only one.
    fn number_of_result(
        &self,
        param: &Param,
        params: &[Param],
        memory: &Memory,
    ) -> Option<Quantity> {
        let Kind::Number { integer } = param.kind else {
            return None;
        };
        let units = units_of(params);
        let texts = memory.texts.iter().take(MAX_RESULTS);
        let mut found = texts.filter_map(|text| {
            let text = Text::new(text);
            let is_named = |it: &&Quantity| {
                let near = it.tokens.start.saturating_sub(2)..it.tokens.end + 2;
                let mut near = near.filter_map(|at| text.tokens.get(at));
                near.any(|token| param.stems.contains(&token.stem))
            };
            let is_source = |it: &&Quantity| {
                let unit = it.unit.filter(|unit| units.contains(unit));
                unit.is_some() && unit != self.target
            };
            let all = || text.quantities.iter();
            match units.is_empty() {
                true => all()
                    .find(is_named)
                    .or(all().next().filter(|_| all().count() == 1)),
                false => all().find(is_source),
            }
            .cloned()
        });
        found
            .next()
            .filter(|quantity| param.meaning != Meaning::Id && quantity.json(integer).is_some())
    }
}

/// Returns an argument or result field of the same name or meaning, else a code or address in the newest result.
fn value_of(param: &Param, memory: &Memory) -> Option<Value> {
    let named = [memory.argument(param), memory.field(param)];
    let named = named
        .into_iter()
        .flatten()
        .find_map(|value| param.adopt(value));
    named.or_else(|| {
        use Meaning::{Email, Id, Path, Url};
        let has_form = matches!(param.meaning, Id | Url | Email | Path);
        let text = Text::new(memory.texts.first().filter(|_| has_form)?);
        let filler = Filler::new(&text, Context::default());
        let found = filler
            .pattern(param, &[])
            .or_else(|| filler.code(param, &[]));
        found
            .or_else(|| filler.named_number(param, &[]))
            .map(|found| found.value)
    })
}
