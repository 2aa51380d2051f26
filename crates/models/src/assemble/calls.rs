//! Pieces in, each to the call it belongs to.

use toolwright_chat::ModelEvent;

use super::Piece;
use super::open::Open;
use crate::bounds::MOST_CALLS;

/// Calls that are being put together.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) open: Vec<Open>,
    pub(super) seed: String,
    /// Counts frames.
    pub(super) round: u64,
    /// Counts pieces.
    clock: u64,
    started: usize,
    /// Whether calls were left out.
    pub(super) full: bool,
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
    pub(super) fn take(&mut self, piece: Piece) {
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
        if self.open.len() >= MOST_CALLS {
            self.full = true;
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
    pub(super) fn tell(&mut self, all: bool) -> Vec<ModelEvent> {
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
                    events.push(ModelEvent::CallBegins {
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
