//! The turns that one node runs at once, in a fair order between people.
//!
//! The person with the fewest running turns is next; between equals, start-time fair queueing decides: they take turns, and a
//! person who was away has neither saved up turns nor lost any.
//!
//! A turn that a running turn starts, and may wait for, shares its permit: waiting for a second one could wait for itself.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::oneshot;

/// The person that a turn belongs to; `None` is the operator.
type Subject = Option<String>;

/// The queue of a node; cheap to clone.
#[derive(Clone)]
pub(crate) struct TurnQueue(Arc<Mutex<QueueState>>);

struct QueueState {
    /// The turns that may run at once.
    max_running: usize,
    /// The turns that may wait for that, as far as they are accepted by [`TurnQueue::try_enter`].
    max_waiting: usize,
    running: usize,
    /// Accepted turns that do not run yet.
    places: usize,
    people: HashMap<Subject, Person>,
    arrivals: u64,
    /// The virtual time: the start of the turn that was granted last, in turns of one person.
    now: u64,
}

/// The number of people at which idle ones are removed.
const SWEEP_THRESHOLD: usize = 1024;

#[derive(Default)]
struct Person {
    running: usize,
    places: usize,
    /// The virtual time at which the last granted turn ends; the next one does not start before.
    finish: u64,
    /// Turns that wait for a permit, with the number of their arrival.
    waiters: VecDeque<(u64, oneshot::Sender<TurnPermit>)>,
}

/// A place in the queue; dropping it leaves the queue.
pub(crate) struct QueuePlace {
    queue: TurnQueue,
    subject: Subject,
}

/// The permission to run a turn, which ends when it is dropped.
pub(crate) struct TurnPermit {
    /// `None` once the turn does not count any more.
    queue: Option<TurnQueue>,
    subject: Subject,
}

/// The node has no room for a further turn of this person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

impl TurnQueue {
    pub(crate) fn new(max_running: usize, max_waiting: usize) -> Self {
        Self(Arc::new(Mutex::new(QueueState {
            max_running,
            max_waiting,
            running: 0,
            places: 0,
            people: HashMap::new(),
            arrivals: 0,
            now: 0,
        })))
    }

    /// Enters the queue if there is room: a person may have as many waiting turns as there is room left for others, so that one
    /// person does not fill the queue.
    pub(crate) fn try_enter(&self, subject: Subject) -> Result<QueuePlace, QueueFull> {
        {
            let mut state = self.state();
            let load = state.running + state.places;
            if let Some(waiting) = load.checked_sub(state.max_running) {
                let own = state.people.get(&subject).map_or(0, |person| person.places);
                let room = state.max_waiting.saturating_sub(waiting);
                if room == 0 || own > room {
                    return Err(QueueFull);
                }
            }
            state.add_place(&subject);
        }
        Ok(QueuePlace { queue: self.clone(), subject })
    }

    /// Enters the queue for a turn that was accepted before.
    pub(crate) fn enter(&self, subject: Subject) -> QueuePlace {
        self.state().add_place(&subject);
        QueuePlace { queue: self.clone(), subject }
    }

    /// Returns true if no further turn can begin at once.
    pub(crate) fn is_busy(&self) -> bool {
        let state = self.state();
        state.running + state.places >= state.max_running
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the free permits to the waiting turns.
    fn grant(&self) {
        let mut state = self.state();
        while state.running < state.max_running {
            let waiting = state.people.iter().filter_map(|(subject, person)| {
                let (arrival, _) = person.waiters.front()?;
                Some(((person.running, person.finish.max(state.now), *arrival), subject))
            });
            let Some(next) = waiting.min_by_key(|(order, _)| *order) else { return };
            let (subject, now) = (next.1.clone(), state.now);
            let Some(person) = state.people.get_mut(&subject) else { return };
            let Some((_, waiter)) = person.waiters.pop_front() else { return };
            let permit = TurnPermit { queue: Some(self.clone()), subject: subject.clone() };
            match waiter.send(permit) {
                Ok(()) => {
                    let start = person.finish.max(now);
                    person.finish = start + 1;
                    person.running += 1;
                    state.running += 1;
                    state.now = start;
                }
                // It waits no longer. Its permit never counted.
                Err(mut permit) => {
                    permit.queue = None;
                    state.remove_if_idle(&subject);
                }
            }
        }
    }
}

impl QueueState {
    fn add_place(&mut self, subject: &Subject) {
        self.places += 1;
        self.people.entry(subject.clone()).or_default().places += 1;
    }

    fn remove_if_idle(&mut self, subject: &Subject) {
        if self.running == 0 && self.places == 0 {
            self.people.clear();
            self.now = 0;
            return;
        }
        // Otherwise a person that comes back at once would be before the others that have waited meanwhile.
        let now = self.now;
        let is_over = |person: &Person| {
            let is_idle = person.running == 0 && person.places == 0 && person.waiters.is_empty();
            is_idle && person.finish <= now
        };
        if self.people.len() >= SWEEP_THRESHOLD {
            self.people.retain(|_, person| !is_over(person));
        } else if self.people.get(subject).is_some_and(is_over) {
            self.people.remove(subject);
        }
    }
}

impl QueuePlace {
    /// Waits for the permit to run.
    pub(crate) async fn acquire(&self) -> TurnPermit {
        loop {
            let receiver = {
                let mut state = self.queue.state();
                let arrival = state.arrivals;
                state.arrivals += 1;
                let (sender, receiver) = oneshot::channel();
                let person = state.people.entry(self.subject.clone()).or_default();
                person.waiters.push_back((arrival, sender));
                receiver
            };
            self.queue.grant();
            if let Ok(permit) = receiver.await {
                return permit;
            }
        }
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.places = state.places.saturating_sub(1);
        if let Some(person) = state.people.get_mut(&self.subject) {
            person.places = person.places.saturating_sub(1);
            // A waiter whose place is gone waits no longer.
            person.waiters.retain(|(_, waiter)| !waiter.is_closed());
        }
        state.remove_if_idle(&self.subject);
    }
}

tokio::task_local! {
    /// The permit of the turn that the task runs.
    static RUNNING_TURN: Weak<TurnPermit>;
}

impl TurnPermit {
    /// Runs a turn that holds a permit, so that the turns which its handler starts can share it.
    pub(crate) async fn run_turn<T>(held: Weak<Self>, turn: impl Future<Output = T>) -> T {
        RUNNING_TURN.scope(held, turn).await
    }

    /// The permit of the turn that this task runs; one that is released if it runs none.
    pub(crate) fn of_running_turn() -> Weak<Self> {
        RUNNING_TURN.try_with(Weak::clone).unwrap_or_default()
    }
}

impl Drop for TurnPermit {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        {
            let mut state = queue.state();
            state.running = state.running.saturating_sub(1);
            if let Some(person) = state.people.get_mut(&self.subject) {
                person.running = person.running.saturating_sub(1);
            }
            state.remove_if_idle(&self.subject);
        }
        queue.grant();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use futures::future::BoxFuture;

    use super::*;

    fn subject(name: &str) -> Subject {
        Some(name.to_owned())
    }

    #[tokio::test]
    async fn a_person_who_waits_with_one_turn_is_next_before_one_who_runs_many() {
        let queue = TurnQueue::new(2, 16);
        let busy = subject("busy");
        let mut running = Vec::new();
        for _ in 0..2 {
            let place = queue.enter(busy.clone());
            running.push(place.acquire().await);
        }
        let waiting: Vec<QueuePlace> = (0..4).map(|_| queue.enter(busy.clone())).collect();
        let mut of_busy: Vec<_> = waiting.iter().map(|place| Box::pin(place.acquire())).collect();
        for permit in &mut of_busy {
            assert!(permit.now_or_never().is_none());
        }
        let (ann, bob) = (queue.enter(subject("ann")), queue.enter(subject("bob")));
        let (mut ann_runs, mut bob_runs) = (Box::pin(ann.acquire()), Box::pin(bob.acquire()));
        assert!((&mut ann_runs).now_or_never().is_none());
        assert!((&mut bob_runs).now_or_never().is_none());
        running.pop();
        let ann_permit = (&mut ann_runs).now_or_never();
        assert!(ann_permit.is_some(), "who came later, and runs nothing");
        running.pop();
        assert!((&mut bob_runs).now_or_never().is_some());
        let permit = of_busy[0].as_mut().now_or_never();
        assert!(permit.is_some(), "bob's turn is over");
        assert!(of_busy[1].as_mut().now_or_never().is_none());
    }

    #[tokio::test]
    async fn people_take_turns_however_many_turns_each_has_waiting() {
        let queue = TurnQueue::new(1, 64);
        let first = queue.enter(subject("busy"));
        let mut running = Some(first.acquire().await);
        drop(first);
        let places = ["busy", "busy", "busy", "ann", "bob", "ann"].map(|name| {
            let place = queue.enter(subject(name));
            (name, place)
        });
        let mut waiting: Vec<(&str, BoxFuture<'_, TurnPermit>)> = Vec::new();
        for (name, place) in &places {
            let mut waits: BoxFuture<'_, TurnPermit> = Box::pin(place.acquire());
            assert!((&mut waits).now_or_never().is_none());
            waiting.push((name, waits));
        }
        let mut order = Vec::new();
        while !waiting.is_empty() {
            running.take();
            let granted = (0..waiting.len()).find_map(|at| {
                let permit = (&mut waiting[at].1).now_or_never()?;
                Some((at, permit))
            });
            let (at, permit) = granted.unwrap();
            running = Some(permit);
            order.push(waiting.remove(at).0);
        }
        assert_eq!(order, ["ann", "bob", "busy", "ann", "busy", "busy"]);
    }

    #[tokio::test]
    async fn one_person_does_not_fill_the_queue_alone() {
        let queue = TurnQueue::new(1, 8);
        let place = queue.try_enter(subject("busy"));
        let _running = place.ok().unwrap().acquire().await;
        let of_busy: Vec<_> =
            std::iter::from_fn(|| queue.try_enter(subject("busy")).ok()).collect();
        assert!((4..=5).contains(&of_busy.len()), "{}", of_busy.len());
        let ann = queue.try_enter(subject("ann"));
        assert!(ann.is_ok());
        let others = (0..).map_while(|n| queue.try_enter(subject(&n.to_string())).ok());
        let others: Vec<_> = others.collect();
        assert_eq!(of_busy.len() + 1 + others.len(), 8);
        assert!(queue.try_enter(subject("eve")).is_err());
        drop((ann, others));
        assert!(queue.try_enter(subject("eve")).is_ok());
    }

    #[tokio::test]
    async fn without_room_to_wait_a_turn_is_refused_at_once() {
        let queue = TurnQueue::new(1, 0);
        assert!(!queue.is_busy());
        let place = queue.try_enter(None);
        assert!(place.is_ok());
        assert!(queue.is_busy());
        assert_eq!(queue.try_enter(subject("ann")).err(), Some(QueueFull));
        drop(place);
        assert!(queue.try_enter(subject("ann")).is_ok());
        assert!(queue.state().people.is_empty());
    }

    #[tokio::test]
    async fn a_turn_that_gives_up_waiting_takes_no_permit() {
        let queue = TurnQueue::new(1, 8);
        let first = queue.enter(subject("a"));
        let running = first.acquire().await;
        drop(first);
        let (gone, stays) = (queue.enter(subject("b")), queue.enter(subject("c")));
        let mut gone_waits = Box::pin(gone.acquire());
        assert!((&mut gone_waits).now_or_never().is_none());
        let mut stays_waits = Box::pin(stays.acquire());
        assert!((&mut stays_waits).now_or_never().is_none());
        drop(gone_waits);
        drop(gone);
        drop(running);
        let permit = (&mut stays_waits).now_or_never();
        assert!(permit.is_some());
        drop((stays_waits, permit));
        drop(stays);
        let state = queue.state();
        assert_eq!((state.running, state.places, state.people.len()), (0, 0, 0));
    }
}
