//! Values from the conversation for required parameters that the sentence leaves open.

use serde_json::Value;

use super::{ArgumentFinder, Context, FoundValue};
use crate::memory::{Memory, nearest};
use crate::params::{Kind, Meaning, Param};
use crate::text::Text;

/// How many results back a number is looked for.
const MAX_RESULTS: usize = 3;

impl ArgumentFinder<'_, '_> {
    /// Fills required parameters that are still open.
    pub(super) fn recall(&mut self, params: &[Param], values: &mut [Option<Value>]) {
        use Meaning::{Email, Id, Path, Person, Place, Url};
        let Some(memory) = self.context.memory else {
            return;
        };
        let results = || memory.texts.iter().take(MAX_RESULTS);
        let is_number = |param: &Param| {
            matches!(param.kind, Kind::Integer | Kind::Number) && param.meaning != Id
        };
        let open = params.iter().zip(values).filter(|(param, value)| {
            let is_reference = matches!(param.meaning, Place | Id | Person | Path | Email | Url);
            let may_recall = self.context.refers_back || is_reference && !self.context.cautious;
            value.is_none() && param.required && may_recall
        });
        let mut open: Vec<_> = open.collect();
        // Numbers first, because a number determines the unit.
        open.sort_by_key(|(param, _)| !is_number(param));
        for (param, value) in open {
            let found = match is_number(param) {
                true => results().find_map(|result| self.number_in(result, param, params)),
                false => self.unit(param, params),
            };
            let found = found.map(|found| {
                self.unit = self.unit.or(found.unit);
                found.value
            });
            *value = found.or_else(|| value_of(param, memory));
        }
    }

    /// Finds a number in a result: with a unit of the tool's, by the parameter's name, or the only one.
    fn number_in(&self, result: &str, param: &Param, params: &[Param]) -> Option<FoundValue> {
        let text = Text::new(result);
        let mut finder = ArgumentFinder::new(&text, Context::default());
        finder.target = self.target;
        if params.iter().any(|param| param.meaning == Meaning::Unit) {
            return finder.number_with_unit(param, params);
        }
        let only = finder.number(param, params).filter(|_| text.quantities.len() == 1);
        finder.named_number(param, params).or(only)
    }
}

/// Returns an argument or result field of the same name or meaning, else a code or address in the newest result.
fn value_of(param: &Param, memory: &Memory) -> Option<Value> {
    use Meaning::{Email, Id, Path, Url};
    let values = [&memory.arguments, &memory.fields];
    let named = values.into_iter().filter_map(|values| nearest(values, param));
    let is_code = param.is_text() && param.meaning == Id;
    let mut named = named.filter_map(|value| match value {
        Value::Number(code) if is_code => Some(code.to_string().into()),
        value => Some(value.clone()).filter(|value| param.accepts(value)),
    });
    named.next().or_else(|| {
        let has_form = matches!(param.meaning, Id | Url | Email | Path);
        let text = Text::new(memory.texts.first().filter(|_| has_form)?);
        let finder = ArgumentFinder::new(&text, Context::default());
        let rules = [ArgumentFinder::pattern, ArgumentFinder::code, ArgumentFinder::named_number];
        let found = rules.iter().find_map(|rule| rule(&finder, param, &[]));
        found.map(|found| found.value)
    })
}
