//! The same calls are assembled from every encoding that is unambiguous.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::call_delta;
use crate::protocol::call_assembler::{CallAssembler, CallDelta};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    Proper,
    Offset,
    AllZero,
    Missing,
    /// From the third delta on, another one each time.
    Wandering,
    /// From the third delta on, 0.
    Falling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    AtTheHead,
    Everywhere,
    Missing,
    Blank,
    AllTheSame,
    NewEachTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    AtTheHead,
    Everywhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A head without arguments, then deltas of text.
    Pieces,
    /// The same, and what is empty is null.
    PiecesAfterNull,
    /// The first delta of text with the head.
    PiecesFromTheHead,
    WholeText,
    Object,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Legacy {
    None,
    Beside,
    Alone,
}

#[derive(Clone, Copy, Debug)]
struct Encoding {
    numbers: Numbers,
    ids: Ids,
    names: Names,
    form: Form,
    interleaved: bool,
    one_frame: bool,
    legacy: Legacy,
}

type Calls = Vec<(String, Value)>;

impl Encoding {
    /// Returns true if the labels determine the call of each delta.
    fn is_unambiguous(&self, calls: &Calls) -> bool {
        let whole = matches!(self.form, Form::WholeText | Form::Object);
        let numbered = matches!(self.numbers, Numbers::Proper | Numbers::Offset);
        let wanders = matches!(self.numbers, Numbers::Wandering | Numbers::Falling);
        let names: HashSet<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
        let distinct_names = names.len() == calls.len();
        if self.legacy == Legacy::Alone {
            return !self.interleaved && !self.one_frame;
        }
        // A new id and a name in every delta look like a new call every time.
        if self.ids == Ids::NewEachTime && self.names == Names::Everywhere && !whole {
            return false;
        }
        if wanders && (self.names == Names::Everywhere || self.ids == Ids::AllTheSame) {
            return false;
        }
        // The same call twice under the same labels might as well be sent again.
        let twice = calls.windows(2).any(|pair| match pair {
            [one, other] => one == other,
            _ => false,
        });
        if twice && self.ids == Ids::AllTheSame && !numbered {
            return false;
        }
        // In one frame, a repeated name is another call.
        if self.one_frame && self.names == Names::Everywhere && !whole {
            return false;
        }
        if self.interleaved && !whole {
            let named = self.names == Names::Everywhere && distinct_names;
            return match self.ids {
                Ids::Everywhere => true,
                Ids::AllTheSame | Ids::NewEachTime => numbered,
                _ => numbered || (named && !wanders),
            };
        }
        true
    }

    /// The deltas of each call.
    fn pieces(&self, calls: &Calls, cuts: &[Index]) -> Vec<Vec<Value>> {
        let mut fresh = 0;
        let mut all = Vec::new();
        for (place, (name, arguments)) in calls.iter().enumerate() {
            let text = arguments.to_string();
            let mut arguments: Vec<Value> = match self.form {
                Form::Object => vec![arguments.clone()],
                Form::WholeText => vec![json!(text)],
                _ => cut(&text, cuts).into_iter().map(Value::from).collect(),
            };
            match self.form {
                Form::Pieces => arguments.insert(0, json!("")),
                Form::PiecesAfterNull => arguments.insert(0, Value::Null),
                _ => {}
            }
            let entries = arguments.into_iter().enumerate().map(|(count, arguments)| {
                let mut entry = json!({"function": {"arguments": arguments}});
                fresh += 1;
                let index = match self.numbers {
                    Numbers::Proper => Some(place),
                    Numbers::Offset => Some(place + 3),
                    Numbers::AllZero => Some(0),
                    Numbers::Missing => None,
                    Numbers::Wandering if count >= 2 => Some(1000 + fresh),
                    Numbers::Falling if count >= 2 => Some(0),
                    Numbers::Wandering | Numbers::Falling => Some(place),
                };
                if let Some(index) = index {
                    entry["index"] = json!(index);
                }
                let id = match self.ids {
                    Ids::AtTheHead if count == 0 => Some(format!("id{place}")),
                    Ids::Everywhere => Some(format!("id{place}")),
                    Ids::AllTheSame => Some("same".to_owned()),
                    Ids::NewEachTime => Some(format!("new{fresh}")),
                    Ids::Blank => Some(String::new()),
                    Ids::AtTheHead | Ids::Missing => None,
                };
                if let Some(id) = id {
                    entry["id"] = json!(id);
                }
                if count == 0 || self.names == Names::Everywhere {
                    entry["function"]["name"] = json!(name);
                }
                entry
            });
            all.push(entries.collect());
        }
        all
    }

    /// The deltas in the order they are sent.
    fn order(&self, mut pieces: Vec<Vec<Value>>, picks: &[Index]) -> Vec<Value> {
        if !self.interleaved {
            return pieces.concat();
        }
        pieces.iter_mut().for_each(|call| call.reverse());
        let mut sent = Vec::new();
        let mut begun = 0;
        let mut picks = picks.iter().cycle();
        loop {
            // Calls start in order; started ones continue in any.
            let mut ready: Vec<usize> = (0..begun).filter(|at| !pieces[*at].is_empty()).collect();
            if begun < pieces.len() {
                ready.push(begun);
            }
            let Some(pick) = picks.next().filter(|_| !ready.is_empty()) else {
                return sent;
            };
            let at = ready[pick.index(ready.len())];
            begun = begun.max(at + 1);
            sent.extend(pieces[at].pop());
        }
    }
}

/// Splits a text into parts that are not empty.
fn cut(text: &str, cuts: &[Index]) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(letters.len())).collect();
    places.extend([0, letters.len()]);
    places.sort_unstable();
    places.dedup();
    let pieces = places.windows(2).map(|pair| letters[pair[0]..pair[1]].iter().collect());
    pieces.collect()
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z{}\\[\\]\"\\\\:, ]{0,8}".prop_map(Value::from),
    ];
    let nested = leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    proptest::collection::btree_map("[a-d\"{]", nested, 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

fn calls() -> impl Strategy<Value = Calls> {
    proptest::collection::vec(("[fgh]", arguments()), 1..5)
}

fn encoding() -> impl Strategy<Value = Encoding> {
    let numbers = prop_oneof![
        Just(Numbers::Proper),
        Just(Numbers::Offset),
        Just(Numbers::AllZero),
        Just(Numbers::Missing),
        Just(Numbers::Wandering),
        Just(Numbers::Falling),
    ];
    let ids = prop_oneof![
        Just(Ids::AtTheHead),
        Just(Ids::Everywhere),
        Just(Ids::Missing),
        Just(Ids::Blank),
        Just(Ids::AllTheSame),
        Just(Ids::NewEachTime),
    ];
    let names = prop_oneof![Just(Names::AtTheHead), Just(Names::Everywhere)];
    let form = prop_oneof![
        Just(Form::Pieces),
        Just(Form::PiecesAfterNull),
        Just(Form::PiecesFromTheHead),
        Just(Form::WholeText),
        Just(Form::Object),
    ];
    let legacy = prop_oneof![
        4 => Just(Legacy::None),
        2 => Just(Legacy::Beside),
        1 => Just(Legacy::Alone),
    ];
    (numbers, ids, names, form, any::<bool>(), any::<bool>(), legacy).prop_map(
        |(numbers, ids, names, form, interleaved, one_frame, legacy)| Encoding {
            numbers,
            ids,
            names,
            form,
            interleaved,
            one_frame,
            legacy,
        },
    )
}

fn assemble(encoding: Encoding, sent: &[Value]) -> CallAssembler {
    let mut assembler = CallAssembler::default();
    if encoding.legacy != Legacy::None {
        for entry in sent {
            let mut old = call_delta(entry);
            (old.index, old.id) = (None, None);
            assembler.add_legacy_delta(old);
        }
    }
    if encoding.legacy == Legacy::Alone {
        return assembler;
    }
    if encoding.one_frame {
        assembler.add_deltas(sent.iter().map(call_delta));
    } else {
        for entry in sent {
            assembler.add_deltas([call_delta(entry)]);
        }
    }
    assembler
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, max_global_rejects: 200_000, ..ProptestConfig::default() })]

    #[test]
    fn the_same_calls_come_out_of_every_encoding(
        calls in calls(),
        encoding in encoding(),
        cuts in proptest::collection::vec(any::<Index>(), 0..6),
        picks in proptest::collection::vec(any::<Index>(), 1..12),
    ) {
        prop_assume!(encoding.is_unambiguous(&calls));
        let sent = encoding.order(encoding.pieces(&calls, &cuts), &picks);
        let (_, whole) = assemble(encoding, &sent).finish();
        let expected: Vec<(String, String)> = calls
            .iter()
            .map(|(name, arguments)| (name.clone(), arguments.to_string()))
            .collect();
        let assembled: Vec<(String, String)> = whole
            .iter()
            .map(|call| (call.name.clone(), call.arguments.clone()))
            .collect();
        prop_assert_eq!(&assembled, &expected, "sent {:?}", sent);
        let ids: HashSet<&str> = whole.iter().map(|call| call.id.as_str()).collect();
        prop_assert_eq!(ids.len(), whole.len());
        let given = matches!(encoding.ids, Ids::AtTheHead | Ids::Everywhere);
        if given && encoding.legacy != Legacy::Alone {
            for (place, call) in whole.iter().enumerate() {
                prop_assert_eq!(&call.id, &format!("id{place}"));
            }
        }
    }

    #[test]
    fn whatever_comes_every_call_has_an_id_of_its_own(
        pieces in proptest::collection::vec(
            (
                proptest::option::of(-1_i64..3),
                proptest::option::of("[ab]"),
                proptest::option::of("[fg]"),
                "[{}a\"]{0,3}",
            ),
            0..12,
        ),
    ) {
        let mut assembler = CallAssembler::default();
        for (index, id, name, arguments) in pieces {
            assembler.add_deltas([CallDelta { index, id, name, arguments, ..CallDelta::default() }]);
        }
        let (_, whole) = assembler.finish();
        let named: Vec<&str> = whole
            .iter()
            .filter(|call| !call.name.is_empty())
            .map(|call| call.id.as_str())
            .collect();
        let ids: HashSet<&&str> = named.iter().collect();
        prop_assert_eq!(ids.len(), named.len());
    }
}
