//! Parameters and a sentence in, arguments out; what the sentence does not give is asked of the conversation, never made up.
//!
//! What is easy to recognise goes first and takes its words away from what is hard: a web address is never a title. An optional
//! parameter is filled only when the sentence clearly means it.

use serde_json::{Map, Value};

use crate::index::Index;
use crate::quantity::{Quantity, quantities};
use crate::recall::Known;
use crate::shape::{Param, Shape};
use crate::units::Unit;
use crate::words::{Gap, Text, Word};

mod choice;
mod direction;
mod list;
mod mention;
mod name;
mod number;
mod prose;
mod remember;
mod rest;
mod typed;

use direction::Direction;

/// What is known about a sentence besides its words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setting<'a> {
    /// The words that speak for the tool itself.
    pub(crate) spoken: &'a [usize],
    /// Those among them that say what it does.
    pub(crate) deeds: &'a [usize],
    /// All words of all tools: where a sentence begins with one, it is no name.
    pub(crate) index: Option<&'a Index>,
    /// What the conversation has made known, if it may be used.
    pub(crate) known: Option<&'a Known>,
    /// Whether the sentence leans on what was said before.
    pub(crate) leans: bool,
    /// Whether nothing may be taken from the conversation that the sentence does not point to.
    pub(crate) careful: bool,
    /// Whether the sentence answers a question of ours.
    pub(crate) reply: bool,
}

/// What became of the parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filled {
    /// The arguments, in the order of the parameters.
    pub(crate) arguments: Map<String, Value>,
    /// The required parameters without one, by name.
    pub(crate) missing: Vec<String>,
    /// How many arguments the sentence gave.
    pub(crate) stated: usize,
    /// How much their recognition speaks for the tool.
    pub(crate) evidence: f32,
    /// The words that became arguments.
    pub(crate) used: Vec<bool>,
}

/// Fills parameters from a sentence.
pub(crate) fn fill(params: &[Param], text: &Text<'_>, setting: Setting<'_>) -> Filled {
    let mut filler = Filler::new(text, setting);
    let mut values = filler.stated(params);
    let stated = values.iter().flatten().count();
    filler.remembered(params, &mut values);
    let mut filled = Filled {
        stated,
        evidence: filler.evidence,
        used: filler.used,
        ..Filled::default()
    };
    for (param, value) in params.iter().zip(values) {
        match value.or_else(|| fallback(param)) {
            Some(value) => {
                filled.arguments.insert(param.name.clone(), value);
            }
            None if param.required => filled.missing.push(param.name.clone()),
            None => {}
        }
    }
    filled
}

/// What the author decided: a default that has to be sent, or the only value there is.
fn fallback(param: &Param) -> Option<Value> {
    if !param.required {
        return None;
    }
    match (&param.default, &param.shape) {
        (Some(default), _) => Some(default.clone()),
        (None, Shape::Choice(options)) => match options.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
        (None, Shape::Object(fields)) => {
            let given = fields.iter().filter(|field| field.required);
            let values = given.map(|field| Some((field.name.clone(), fallback(field)?)));
            values.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        _ => None,
    }
}

/// Words of a sentence that are given away one by one.
struct Filler<'a, 't> {
    text: &'a Text<'t>,
    setting: Setting<'a>,
    used: Vec<bool>,
    quantities: Vec<Quantity>,
    /// The unit that something is wanted in: "to Fahrenheit".
    target: Option<Unit>,
    /// The unit of the number that was taken.
    unit: Option<Unit>,
    evidence: f32,
}

type Values = Vec<Option<Value>>;

/// Looks for one parameter's value, beside the other parameters.
type Pass<'a, 't> = fn(&mut Filler<'a, 't>, &Param, &[Param]) -> Option<Value>;

impl<'a, 't> Filler<'a, 't> {
    fn new(text: &'a Text<'t>, setting: Setting<'a>) -> Self {
        let quantities = quantities(&text.words);
        Self {
            used: vec![false; text.words.len()],
            target: choice::target(&text.words, &quantities),
            unit: None,
            evidence: 0.0,
            quantities,
            text,
            setting,
        }
    }

    /// Fills what the sentence gives.
    fn stated(&mut self, params: &[Param]) -> Values {
        let mut values: Values = vec![None; params.len()];
        let passes: [Pass<'a, 't>; 12] = [
            Self::choice,
            Self::typed,
            Self::named_number,
            Self::id,
            Self::numbers,
            Self::number,
            Self::unit,
            Self::told_prose,
            Self::name,
            Self::object,
            Self::list,
            Self::prose,
        ];
        for pass in passes {
            for (param, value) in params.iter().zip(&mut values) {
                if value.is_none() {
                    *value = pass(self, param, params);
                }
            }
        }
        self.last_resort(params, &mut values);
        self.flags(params, &mut values);
        values
    }

    /// Fills the fields of an object, if all it requires is there.
    fn object(&mut self, param: &Param, _: &[Param]) -> Option<Value> {
        let Shape::Object(fields) = &param.shape else {
            return None;
        };
        let before = (self.used.clone(), self.evidence);
        let values = self.stated(fields);
        let whole = fields
            .iter()
            .zip(&values)
            .all(|(field, value)| value.is_some() || !field.required || fallback(field).is_some());
        let given = values.iter().flatten().count();
        if !whole || given == 0 {
            (self.used, self.evidence) = before;
            return None;
        }
        let fields = fields.iter().zip(values);
        let fields = fields.filter_map(|(field, value)| {
            Some((field.name.clone(), value.or_else(|| fallback(field))?))
        });
        Some(Value::Object(fields.collect()))
    }

    fn words(&self) -> &'a [Word<'t>] {
        &self.text.words
    }

    fn word(&self, place: usize) -> Option<&'a Word<'t>> {
        self.text.words.get(place)
    }

    fn before(&self, place: usize) -> Option<&'a Word<'t>> {
        self.word(place.checked_sub(1)?)
    }

    /// Tells whether a word is still to be had.
    fn is_free(&self, place: usize) -> bool {
        self.used.get(place) == Some(&false)
    }

    /// Tells whether a word speaks for the tool, and so is no argument.
    fn is_spoken(&self, place: usize) -> bool {
        self.setting.spoken.contains(&place)
    }

    /// Tells whether any tool knows a word, so that it is hardly a name.
    fn is_tool_word(&self, place: usize) -> bool {
        let word = self.word(place);
        let index = self.setting.index;
        word.is_some_and(|word| {
            let known = index.is_some_and(|index| index.knows(&word.stem));
            known || crate::words::is_weak(&word.stem)
        })
    }

    /// Gives words away.
    fn take(&mut self, words: std::ops::Range<usize>, evidence: f32) {
        self.evidence += evidence;
        for used in self.used.iter_mut().take(words.end).skip(words.start) {
            *used = true;
        }
    }

    /// Tells whether a value satisfies what the author demands of a text.
    fn admits(param: &Param, value: &str) -> bool {
        let Shape::Text {
            demand: Some(demand),
        } = &param.shape
        else {
            return true;
        };
        let value = Value::from(value);
        let tape = toolwright_core::schema::Tape::from_value(&value);
        demand.is_valid(tape.root())
    }

    /// Whether a gap ends what somebody says.
    fn ends(&self, place: usize) -> bool {
        self.word(place).is_none_or(|word| word.gap != Gap::Space)
    }
}
