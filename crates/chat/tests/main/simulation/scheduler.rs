//! The scheduler: polls one task at a time, chosen by the seed, and moves the clock when no task is ready.

use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

/// The tasks of a simulation, and its random numbers.
pub(crate) struct Scheduler {
    state: Mutex<State>,
    wakes: Arc<Wakes>,
    started: Instant,
    /// The decisions, if they are traced.
    trace: Option<Mutex<Vec<String>>>,
}

struct State {
    random: u64,
    tasks: Vec<Task>,
}

struct Task {
    owner: u64,
    future: BoxFuture<'static, ()>,
    ready: Arc<Ready>,
}

/// Wakes the scheduler itself.
#[derive(Default)]
struct Wakes(Mutex<Option<Waker>>);

/// True if a task can be polled.
struct Ready(AtomicBool, Arc<Wakes>);

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
        if let Some(waker) = self.1.0.lock().unwrap().take() {
            waker.wake();
        }
    }
}

impl Scheduler {
    pub(crate) fn new(seed: u64, is_traced: bool) -> Self {
        Self {
            state: Mutex::new(State { random: seed, tasks: Vec::new() }),
            wakes: Arc::default(),
            started: Instant::now(),
            trace: is_traced.then(Mutex::default),
        }
    }

    /// A random number (SplitMix64).
    pub(crate) fn random(&self) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.random = state.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number below `end`.
    pub(crate) fn below(&self, end: u64) -> u64 {
        self.random() % end.max(1)
    }

    /// True with this probability, in per mille.
    pub(crate) fn chance(&self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of these, which must not be empty.
    pub(crate) fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    /// Milliseconds since the start.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap()
    }

    pub(crate) fn trace(&self, decision: impl FnOnce() -> String) {
        self.trace_unless(false, decision);
    }

    pub(crate) fn trace_unless(&self, is_left_out: bool, decision: impl FnOnce() -> String) {
        if let Some(trace) = self.trace.as_ref().filter(|_| !is_left_out) {
            let decision = format!("{:>7} {}\n", self.now(), decision());
            trace.lock().unwrap().push(decision);
        }
    }

    /// Returns the last decisions, at most `limit`.
    pub(crate) fn last_decisions(&self, limit: usize) -> String {
        let trace = self.trace.as_ref().map(|trace| trace.lock().unwrap());
        trace.map_or(String::new(), |all| all[all.len().saturating_sub(limit)..].concat())
    }

    pub(crate) fn spawn(&self, owner: u64, task: impl Future<Output = ()> + Send + 'static) {
        let ready = Arc::new(Ready(AtomicBool::new(true), Arc::clone(&self.wakes)));
        let task = Task { owner, future: Box::pin(tokio::task::unconstrained(task)), ready };
        self.state.lock().unwrap().tasks.push(task);
    }

    /// Drops all tasks of an owner, wherever they are.
    pub(crate) fn drop_tasks(&self, owner: impl Fn(u64) -> bool) {
        let dropped: Vec<Task> = {
            let mut state = self.state.lock().unwrap();
            state.tasks.extract_if(.., |task| owner(task.owner)).collect()
        };
        drop(dropped);
    }

    /// Polls tasks until `is_done`; fails after too many steps.
    pub(crate) async fn run(&self, is_done: impl Fn() -> bool) -> Result<u64, String> {
        for step in 0..100_000 {
            if is_done() {
                return Ok(step);
            }
            match self.take_ready() {
                Some(mut task) => {
                    task.ready.0.store(false, Ordering::Relaxed);
                    let waker = Waker::from(Arc::clone(&task.ready));
                    if task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                        self.state.lock().unwrap().tasks.push(task);
                    }
                }
                // The runtime runs its own tasks, which release leases that were dropped, or moves the clock to the next timer.
                None => poll_fn(|cx| self.poll_ready(cx)).await,
            }
        }
        Err("the simulation does not come to rest".to_owned())
    }

    fn take_ready(&self) -> Option<Task> {
        let is_ready = |task: &Task| task.ready.0.load(Ordering::Relaxed);
        let count = self.state.lock().unwrap().tasks.iter().filter(|task| is_ready(task)).count();
        let chosen = usize::try_from(self.below(count as u64)).unwrap();
        let tasks = &mut self.state.lock().unwrap().tasks;
        let ready = tasks.iter().enumerate().filter(|(_, task)| is_ready(task));
        let index = ready.map(|(index, _)| index).nth(chosen)?;
        Some(tasks.swap_remove(index))
    }

    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        *self.wakes.0.lock().unwrap() = Some(cx.waker().clone());
        let tasks = &self.state.lock().unwrap().tasks;
        match tasks.iter().any(|task| task.ready.0.load(Ordering::Relaxed)) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// Waits for simulated time; 0 lets other tasks run first.
pub(crate) async fn pause(millis: u64) {
    if millis > 0 {
        return tokio::time::sleep(Duration::from_millis(millis)).await;
    }
    let mut is_polled = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_polled, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
