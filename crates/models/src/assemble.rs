//! Pieces of streamed tool calls in, whole calls out.
//!
//! Vendors label the pieces with an index and an id, and neither can be trusted: some number every call 0, some repeat an id
//! for another call or make up a new one for every piece, some leave both out. So calls are stored under neither. Each learns
//! the labels that were used for it, and a piece goes to the best labelled call that it does not contradict; a name, and
//! whether the arguments so far are whole, tell a new call from more of an old one.

use serde_json::{Map, Value};
use toolwright_chat::ModelEvent;

use self::scan::Scan;

mod scan;
#[cfg(test)]
mod tests;

/// One piece of a call, as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    /// Which call it is said to belong to.
    pub(crate) index: Option<i64>,
    /// The id of the call, or nothing if it is blank.
    pub(crate) id: Option<String>,
    /// The tool, or nothing if it is blank.
    pub(crate) name: Option<String>,
    /// More of the arguments: text as it is, anything else written as JSON.
    pub(crate) arguments: String,
    /// What else the vendor says of the call.
    pub(crate) rest: Map<String, Value>,
}

impl Piece {
    /// Reads labels and arguments, whatever they are.
    pub(crate) fn new(
        index: Option<&Value>,
        id: Option<&Value>,
        name: Option<&Value>,
        arguments: Option<Value>,
    ) -> Self {
        let text = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str)?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        Self {
            index: index.and_then(|index| match index {
                Value::String(digits) => digits.parse().ok(),
                other => other.as_i64(),
            }),
            id: text(id),
            name: text(name),
            arguments: match arguments {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
            },
            rest: Map::new(),
        }
    }

    /// Whether it says nothing of the arguments that could begin them; within a text, white space is something.
    fn is_silent(&self) -> bool {
        self.arguments.trim().is_empty()
    }

    /// Whether its text could be the beginning of arguments.
    fn begins(&self) -> bool {
        self.arguments.trim_start().starts_with(['{', '[', '"'])
    }
}

/// A call that is whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whole {
    /// Its id, made up if the vendor gave none of its own.
    pub(crate) id: String,
    /// The tool; empty if it was never named.
    pub(crate) name: String,
    /// The arguments exactly as they were sent.
    pub(crate) arguments: String,
    /// What else the vendor said of it.
    pub(crate) rest: Map<String, Value>,
}

/// Puts the calls of one step together.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    calls: Calls,
    /// What came as `function_call`: the same calls again, unless there are no others.
    legacy: Calls,
}

impl Assembler {
    /// Gives what made-up ids are made of, so that they differ from those of other steps.
    pub(crate) fn seed(&mut self, seed: &str) {
        if self.calls.seed.is_empty() && !seed.is_empty() {
            let seed = format!("{:08x}_", fnv(seed) as u32);
            self.legacy.seed.clone_from(&seed);
            self.calls.seed = seed;
        }
    }

    /// Takes the pieces that one frame carries.
    pub(crate) fn read(&mut self, pieces: impl IntoIterator<Item = Piece>) -> Vec<ModelEvent> {
        self.calls.round += 1;
        for piece in pieces {
            self.calls.take(piece);
        }
        self.calls.tell(false)
    }

    /// Takes what came as the older `function_call`, which many send beside `tool_calls`.
    pub(crate) fn read_legacy(&mut self, piece: Piece) {
        self.legacy.round += 1;
        self.legacy.take(piece);
    }

    /// Whether any piece has come.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.open.is_empty() && self.legacy.open.is_empty()
    }

    /// Ends all calls, in the order they were told: what is still to tell, and the calls.
    pub(crate) fn finish(&mut self) -> (Vec<ModelEvent>, Vec<Whole>) {
        let legacy = std::mem::take(&mut self.legacy);
        let mut calls = std::mem::take(&mut self.calls);
        if calls.open.is_empty() {
            calls = legacy;
        }
        let events = calls.tell(true);
        calls
            .open
            .sort_by_key(|call| call.place.unwrap_or(usize::MAX));
        let whole = calls.open.into_iter().filter_map(Open::close);
        (events, whole.collect())
    }
}

/// Calls that are being put together.
#[derive(Debug, Default)]
struct Calls {
    open: Vec<Open>,
    seed: String,
    /// Counts frames.
    round: u64,
    /// Counts pieces.
    clock: u64,
    started: usize,
}

/// A call that may go on.
#[derive(Debug, Default)]
struct Open {
    indexes: Vec<i64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
    scan: Scan,
    /// It was named again without arguments: perhaps a repetition, perhaps the head of another call.
    renamed: bool,
    rest: Map<String, Value>,
    named_in: u64,
    touched: u64,
    /// Which of the step's calls it is, once told.
    place: Option<usize>,
    /// The id it was told under.
    given: String,
    told: usize,
}

/// How a piece goes with a call.
enum Fit {
    /// It is more of it.
    More,
    /// It is the same once again.
    Again,
    /// It belongs to another one.
    Other,
    /// A new call begins; it is named by this piece, or was by the one before.
    Begins(Option<String>),
}

impl Calls {
    fn take(&mut self, piece: Piece) {
        self.clock += 1;
        let mut name = None;
        for place in self.candidates(&piece) {
            let Some(call) = self.open.get(place) else {
                continue;
            };
            match self.fit(call, &piece) {
                Fit::More => {
                    let (clock, round) = (self.clock, self.round);
                    if let Some(call) = self.open.get_mut(place) {
                        call.add(piece, clock, round);
                    }
                    return;
                }
                Fit::Again => return,
                Fit::Other => {}
                Fit::Begins(named) => {
                    name = named;
                    if let Some(call) = self.open.get_mut(place) {
                        call.renamed = false;
                    }
                    break;
                }
            }
        }
        if piece.id.is_none() && piece.name.is_none() && piece.is_silent() && piece.rest.is_empty()
        {
            return;
        }
        let mut call = Open {
            name,
            ..Open::default()
        };
        call.add(piece, self.clock, self.round);
        self.open.push(call);
    }

    /// The calls that a piece may belong to: best labelled first, and of those the one that went on last.
    fn candidates(&self, piece: &Piece) -> Vec<usize> {
        let last = self.open.iter().map(|call| call.touched).max();
        let mut ranked: Vec<(u8, u64, usize)> = Vec::new();
        for (place, call) in self.open.iter().enumerate() {
            let by_id = call.has_id(piece);
            let by_index = call.has_index(piece);
            let by_name = piece.name.is_some() && call.name == piece.name && !call.scan.is_whole();
            let rank = match (by_id, by_index) {
                (true, true) => 3,
                (true, false) => 2,
                (false, true) => 1,
                (false, false) if by_name || Some(call.touched) == last => 0,
                (false, false) => continue,
            };
            ranked.push((rank, call.touched, place));
        }
        ranked.sort_by(|one, other| other.cmp(one));
        ranked.into_iter().map(|(_, _, place)| place).collect()
    }

    fn fit(&self, call: &Open, piece: &Piece) -> Fit {
        let named = piece.name.is_some();
        if named && call.name.is_some() && call.name != piece.name {
            return Fit::Other;
        }
        let same_id = call.has_id(piece);
        let whole = call.scan.is_whole();
        let empty = call.arguments.trim().is_empty();
        // Nobody splits a call within one frame and names it twice.
        if named && !same_id && call.named_in == self.round && (whole || empty) {
            return Fit::Other;
        }
        let strange_index = piece.index.is_some() && !call.has_index(piece);
        let labelled = same_id || call.has_index(piece);
        if same_id {
            return self.fit_of_same_id(call, piece, strange_index);
        }
        if let Some(id) = &piece.id {
            let known = self.open.iter().any(|call| call.id.as_ref() == Some(id));
            let late = call.id.is_none() && labelled && !whole;
            // A new id for every piece is a habit of some; a call they begin has a name.
            let makeshift = !named && !known && !whole && (labelled || !piece.arguments.is_empty());
            return if late || makeshift {
                Fit::More
            } else {
                Fit::Other
            };
        }
        if !labelled && piece.index.is_some() && !call.indexes.is_empty() {
            // Only a call that goes on can change its index; one that begins has a name.
            let goes_on = !(named || piece.arguments.is_empty() || whole && piece.begins());
            return if goes_on { Fit::More } else { Fit::Other };
        }
        if whole && piece.begins() {
            if named {
                return Fit::Begins(None);
            }
            if call.renamed {
                return Fit::Begins(call.name.clone());
            }
        }
        let unfinished_elsewhere = || {
            let last = self.open.iter().max_by_key(|call| call.touched);
            last.is_some_and(|last| last.touched != call.touched && !last.scan.is_whole())
        };
        if whole && !named && !piece.arguments.is_empty() && unfinished_elsewhere() {
            return Fit::Other;
        }
        Fit::More
    }

    fn fit_of_same_id(&self, call: &Open, piece: &Piece, strange_index: bool) -> Fit {
        if !piece.begins() && !piece.is_silent() {
            return Fit::More;
        }
        let named = piece.name.is_some();
        if strange_index && named {
            return Fit::Begins(None);
        }
        if !call.scan.is_whole() || piece.is_silent() {
            return Fit::More;
        }
        if !named {
            return match call.renamed {
                true => Fit::Begins(call.name.clone()),
                false => Fit::More,
            };
        }
        let last = self.open.iter().map(|call| call.touched).max();
        let again = piece.arguments.trim() == call.arguments.trim();
        if again && !call.renamed && Some(call.touched) == last {
            Fit::Again
        } else {
            Fit::Begins(None)
        }
    }

    /// Tells what is new: calls that begin, and more of their arguments.
    fn tell(&mut self, all: bool) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        // An id may still come with the next piece, but not once a later call has begun.
        let known = self
            .open
            .iter()
            .rposition(|call| all || call.id.is_some() || !call.arguments.trim().is_empty());
        for place in 0..self.open.len() {
            let Some(call) = self.open.get(place) else {
                continue;
            };
            if call.place.is_none() && call.name.is_some() && Some(place) <= known {
                let given = self.id(call.id.as_deref());
                let started = self.started;
                self.started += 1;
                if let Some(call) = self.open.get_mut(place) {
                    call.place = Some(started);
                    call.given.clone_from(&given);
                    events.push(ModelEvent::CallStarted {
                        index: started,
                        id: given.into(),
                        name: call.name.clone().unwrap_or_default().into(),
                    });
                }
            }
            if let Some(call) = self.open.get_mut(place)
                && let Some(index) = call.place
                && let Some(delta) = call.arguments.get(call.told..).filter(|d| !d.is_empty())
            {
                let delta = delta.to_owned();
                call.told = call.arguments.len();
                events.push(ModelEvent::CallDelta { index, delta });
            }
        }
        events
    }

    /// The id that a call goes by: the vendor's, unless there is none or another call has it.
    fn id(&self, sent: Option<&str>) -> String {
        let taken = |id: &str| self.open.iter().any(|call| call.given == id);
        if let Some(id) = sent.filter(|id| !taken(id)) {
            return id.to_owned();
        }
        let mut id = format!("call_{}{}", self.seed, self.started);
        while taken(&id) {
            id.push('x');
        }
        id
    }
}

impl Open {
    fn has_id(&self, piece: &Piece) -> bool {
        piece.id.is_some() && self.id == piece.id
    }

    fn has_index(&self, piece: &Piece) -> bool {
        piece
            .index
            .is_some_and(|index| self.indexes.contains(&index))
    }

    fn add(&mut self, piece: Piece, clock: u64, round: u64) {
        self.touched = clock;
        let silent = piece.is_silent();
        let again = piece.name.is_some() && self.name.is_some();
        if !silent {
            self.renamed = false;
        } else if again && !self.arguments.trim().is_empty() {
            self.renamed = true;
        }
        if let Some(index) = piece.index.filter(|index| !self.indexes.contains(index)) {
            self.indexes.push(index);
        }
        if piece.name.is_some() {
            self.named_in = round;
            self.name = piece.name.clone();
        }
        if self.id.is_none() {
            self.id.clone_from(&piece.id);
        }
        // Some begin with an empty object and mean that the arguments are to come.
        if self.arguments.trim() == "{}" && piece.name.is_none() && piece.begins() {
            self.arguments.clear();
            self.scan = Scan::default();
            self.told = 0;
        }
        self.scan.read(&piece.arguments);
        self.arguments.push_str(&piece.arguments);
        let news = piece.rest.into_iter().filter(|(_, value)| !value.is_null());
        self.rest.extend(news);
    }

    fn close(self) -> Option<Whole> {
        if self.name.is_none() && self.arguments.is_empty() && self.rest.is_empty() {
            return None;
        }
        Some(Whole {
            id: if self.place.is_some() {
                self.given
            } else {
                self.id.unwrap_or_default()
            },
            name: self.name.unwrap_or_default(),
            arguments: self.arguments,
            rest: self.rest,
        })
    }
}

/// A number that a text always comes to, on every machine and in every version.
pub(crate) fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
